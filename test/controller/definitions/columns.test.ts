import { expect, it } from 'vitest'
import { CUSTOM_RESOURCES } from '../../../controller/definitions/custom-resources.ts'

interface Node {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Node>>
}
interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string }
    readonly versions: readonly [
      {
        readonly schema: { readonly openAPIV3Schema: Node }
        readonly additionalPrinterColumns: readonly Column[]
      },
    ]
  }
}
interface Column {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly description: string
  readonly priority?: number
}

const KINDS = new Map(
  CUSTOM_RESOURCES.map(({ definition }) => {
    const { names, versions } = (definition as unknown as Definition).spec
    return [names.kind, { columns: versions[0].additionalPrinterColumns, schema: versions[0].schema.openAPIV3Schema }]
  }),
)
/** Units of a number, by the words of its description, and how the name of its column says them. */
const UNITS: readonly [RegExp, RegExp][] = [
  [/\bseconds\b/i, /Seconds/],
  [/\bmilliseconds\b/i, /Milliseconds/],
  [/\bbytes\b/i, /Bytes/],
  [/\bper hour\b/i, /Hourly|\/h/],
]

it.for([
  [
    'WorkerPool',
    'Mode Min Max Desired Up Busy Waiting Oldest-Seconds Limited-By Ready Problems Age',
    'Paused Updated Hourly-Cost',
  ],
  [
    'RetentionPolicy',
    'Lifetimes Dry-Run Overdue Oldest-Seconds Last-Run Ready Age',
    'TTL-Seconds Suspend Schedule Next-Run',
  ],
  ['Sweep', 'Policy Dry-Run Objects Bytes Held Started Reason', ''],
] as const)('kubectl get shows of a %s: %s', ([kind, shown, wide]) => {
  const columns = KINDS.get(kind)?.columns ?? []
  const named = (isWide: boolean) => columns.filter(({ priority = 0 }) => priority > 0 === isWide)
  expect(named(false).map(({ name }) => name)).toEqual(shown.split(' '))
  expect(named(true).map(({ name }) => name)).toEqual(wide.split(' ').filter(Boolean))
})

it('every column shows a field of its kind, and a number with a unit says the unit', () => {
  const problems = [...KINDS].flatMap(([kind, { columns, schema }]) =>
    columns.flatMap((column) => problemsOf(column, schema).map((problem) => `${kind} ${column.name}: ${problem}`)),
  )
  expect(problems).toEqual([])
  expect([...KINDS.values()].every(({ columns }) => columns.length > 3)).toBe(true)
})

it('a column without its field or unit is found', () => {
  const schema = KINDS.get('WorkerPool')?.schema ?? {}
  const column = { name: 'Oldest', type: 'integer', jsonPath: '.status.demand.oldestWaitSeconds', description: '' }
  expect(problemsOf(column, schema)).toEqual(['says no unit'])
  expect(problemsOf({ ...column, jsonPath: '.status.old' }, schema)).toEqual(['shows no field'])
})

function problemsOf({ name, type, jsonPath, description }: Column, schema: Node): string[] {
  if (jsonPath.startsWith('.metadata.') || jsonPath.includes('.conditions[')) return []
  const field = jsonPath
    .slice(1)
    .split('.')
    .reduce<Node | undefined>((node, part) => node?.properties?.[part], schema)
  if (field === undefined) return ['shows no field']
  if (!['integer', 'number'].includes(type)) return []
  const text = `${description} ${field.description}`
  const wrong = UNITS.filter(([word, named]) => word.test(text) && !named.test(name))
  return wrong.length > 0 ? ['says no unit'] : []
}
