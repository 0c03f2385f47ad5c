import type { Quality } from './measure.ts'

/** One figure of a result: its name, its goal, and whether more is better. */
interface Figure {
  readonly key: keyof Quality | 'crop'
  readonly name: string
  readonly digits: number
  readonly goal?: number
  readonly stretch?: number
  readonly better?: 'higher' | 'lower'
}

const FIGURES: readonly Figure[] = [
  { key: 'landmarks', name: 'landmark error, % of body height', digits: 2, goal: 4, stretch: 2, better: 'lower' },
  { key: 'colour', name: 'garment colour, ΔE to the product', digits: 2, goal: 5, stretch: 3, better: 'lower' },
  { key: 'covered', name: 'worn garment covered', digits: 4, goal: 0.97, better: 'higher' },
  { key: 'face', name: 'face pixels changed', digits: 0, goal: 0, better: 'lower' },
  { key: 'hands', name: 'hand pixels changed', digits: 1, goal: 0, better: 'lower' },
  { key: 'hair', name: 'hair kept', digits: 4, goal: 0.97, better: 'higher' },
  { key: 'outside', name: 'pixels changed outside the region', digits: 0, goal: 0, better: 'lower' },
  { key: 'stray', name: 'pixels changed far from both garments', digits: 1, goal: 0, better: 'lower' },
  { key: 'crop', name: 'crop deviation, % of the frame', digits: 2, goal: 1, better: 'lower' },
  { key: 'overlap', name: 'region, overlap with the truth', digits: 3 },
  { key: 'edges', name: 'region, sides off by % of body height', digits: 2 },
  { key: 'similarity', name: 'SSIM to the truth', digits: 3 },
  { key: 'perceptual', name: 'S-CIELAB to the truth, ΔE00', digits: 2 },
]

/** Mean and worst value of one figure over all results with a value. */
export interface Summary {
  readonly mean: number
  readonly worst: number
  readonly results: number
}

export interface Report {
  readonly engine: string
  /** Day of the measurement, and the kind of machine. */
  readonly measured: string
  readonly hardware: string
  readonly results: number
  readonly refused: number
  readonly figures: Readonly<Record<string, Summary>>
  /** Face, hands and hair of the pairs of each difficult class. */
  readonly classes: Readonly<Record<string, Readonly<Record<string, Summary>>>>
  /** Mean ms by stage of the engine. */
  readonly stages: Readonly<Record<string, number>>
}

/** Measurements of one result, or of a crop. */
export type Measured = Partial<Record<Figure['key'], number | null>>

export function summarize(all: readonly Measured[]): Record<string, Summary> {
  const entries = FIGURES.flatMap(({ key, digits, better }) => {
    const values = all.map((quality) => quality[key]).filter((value) => typeof value === 'number')
    if (values.length === 0) return []
    const isLeast = better === 'higher' || key === 'overlap' || key === 'similarity'
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const worst = isLeast ? Math.min(...values) : Math.max(...values)
    return [
      [key, { mean: rounded(mean, digits + 1), worst: rounded(worst, digits + 1), results: values.length }] as const,
    ]
  })
  return Object.fromEntries(entries)
}

const KEPT = ['face', 'hands', 'hair'] as const

/** The figures of regions that must not change, by class. */
export function summarizeClasses(
  all: readonly { readonly shows?: readonly string[]; readonly quality: Measured }[],
): Report['classes'] {
  const names = [...new Set(all.flatMap(({ shows = [] }) => shows))].sort()
  return Object.fromEntries(
    names.map((name) => {
      const shown = all.filter(({ shows = [] }) => shows.includes(name))
      return [
        name,
        summarize(shown.map(({ quality }) => Object.fromEntries(KEPT.map((key) => [key, quality[key]])))),
      ] as const
    }),
  )
}

export function meanTimes(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = [...new Set(all.flatMap((timings) => Object.keys(timings)))]
  const mean = (name: string) => all.reduce((sum, timings) => sum + (timings[name] ?? 0), 0) / Math.max(1, all.length)
  return Object.fromEntries(names.map((name) => [name, Math.round(mean(name))]))
}

const COLUMNS = [
  'landmarks',
  'colour',
  'covered',
  'face',
  'hands',
  'hair',
  'outside',
  'stray',
  'similarity',
  'perceptual',
] as const

export function presentHead(): string {
  return `${'person + garment'.padEnd(38)}${COLUMNS.map((key) => key.slice(0, 9).padStart(10)).join('')}        ms  warnings`
}

export function presentLine(quality: Measured): string {
  return COLUMNS.map((key) => {
    const value = quality[key]
    const digits = FIGURES.find((figure) => figure.key === key)?.digits ?? 0
    return (typeof value === 'number' && !Number.isNaN(value) ? value.toFixed(digits) : '–').padStart(10)
  }).join('')
}

/** The whole report: a line per figure, then the stages. */
export function presentReport({
  figures,
  classes,
  stages,
  results,
  refused,
  engine,
  measured,
  hardware,
}: Report): string {
  const head = ['figure', 'mean', 'worst', 'of', 'goal', 'stretch', '']
  const lines = FIGURES.filter(({ key }) => key in figures).map(({ key, name, digits, goal, stretch, better }) => {
    const { mean, worst, results: of } = figures[key]
    const meets = goal === undefined ? '' : (better === 'higher' ? mean >= goal : mean <= goal) ? 'reached' : 'missed'
    return [name, mean.toFixed(digits), worst.toFixed(digits), String(of), `${goal ?? ''}`, `${stretch ?? ''}`, meets]
  })
  const rows = [head, ...lines]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  const times = Object.entries(stages).map(([name, ms]) => `${name} ${ms}`)
  const total = Object.values(stages).reduce((sum, ms) => sum + ms, 0)
  return [
    `${engine}, measured on ${measured}, ${hardware}`,
    `${results} results, ${refused} refused`,
    ...table,
    ...Object.entries(classes).flatMap(([name, kept]) => [`${name}:`, ...Object.entries(kept).map(presentKept)]),
    `ms by stage: ${times.join(', ')}; together ${total}`,
  ].join('\n')
}

function presentKept([key, { mean, worst, results }]: [string, Summary]): string {
  const name = FIGURES.find((figure) => figure.key === key)?.name ?? key
  return `  ${name}: mean ${mean}, worst ${worst} of ${results}`
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
