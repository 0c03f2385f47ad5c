import type { FieldProblem } from './errors.ts'

/** Property names and array indices of a field. */
export type Path = readonly string[]

/** Error of a JSON Schema validator, with the violated schema. */
interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly parentSchema?: Description
  readonly message?: string
}

type Description = Readonly<Record<string, unknown>>

const MAX_PROBLEMS = 20
const MAX_PATH_LENGTH = 200

/**
 * At most 20 problems, one per field; each message continues a sentence that starts with the field. `written` maps a
 * path to the path that the caller used.
 */
export function problemsOf(errors: readonly SchemaError[], written: (path: Path) => Path): FieldProblem[] {
  const byPath = new Map<string, string>()
  for (const error of errors) {
    const path = formatPath(written(pathOf(error)))
    // The branches of an `anyOf` are reported before the `anyOf` itself; only the latter helps a caller.
    if (!byPath.has(path) || error.keyword === 'anyOf') byPath.set(path, messageOf(error))
  }
  return [...byPath].slice(0, MAX_PROBLEMS).map(([path, message]) => ({ path: shortened(path), message }))
}

/** Field names come from the caller and can be as long as the body. */
function shortened(path: string): string {
  return path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path
}

/** `products[0].images[1].source` */
export function formatPath(path: Path): string {
  return path.reduce((text, part) => {
    if (/^\d+$/.test(part)) return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

function pathOf({ instancePath, params }: SchemaError): string[] {
  const parts = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const field = params.missingProperty ?? params.additionalProperty
  return field === undefined ? parts : [...parts, String(field)]
}

/** The problem, as the continuation of a sentence that starts with the field. */
function messageOf({ keyword, params, parentSchema = {}, message }: SchemaError): string {
  const limit = Number(params.limit)
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return isExclusive(parentSchema) ? `is not one of ${fieldsOf(parentSchema)}` : 'is not a known field'
    case 'minProperties':
    case 'maxProperties':
      if (isExclusive(parentSchema)) return `must have exactly one of ${fieldsOf(parentSchema)}`
      return `must have ${keyword === 'minProperties' ? 'at least' : 'at most'} ${counted(limit, 'field')}`
    case 'minItems':
    case 'maxItems':
      if (parentSchema.minItems === parentSchema.maxItems) return `must have exactly ${counted(limit, 'item')}`
      return `must have ${keyword === 'minItems' ? 'at least' : 'at most'} ${counted(limit, 'item')}`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${counted(limit, 'character')}`
    case 'maxJsonKilobytes':
      return `must have at most ${parentSchema.maxJsonKilobytes} KB as JSON`
    case 'type':
    case 'const':
    case 'enum':
    case 'minimum':
    case 'maximum':
    case 'format':
    case 'anyOf':
      return `must be ${describe(parentSchema)}`
    default:
      return message ?? 'is not valid'
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
  integer: 'a whole number',
  number: 'a number',
  date: 'a date such as 2026-11-25',
  'date-time': 'an ISO 8601 date and time',
  'iso-time': 'an ISO 8601 date and time',
  'end-user-id': 'a string, but neither the ID of a shopper of a shop (shop_…) nor . or .., which no URL can contain',
  'web-address': 'an http or https address',
  'caller-id': 'a string other than . and .., which no URL can contain',
  'image-address': 'an http or https address, or the upload:// name of a stored image',
}

/** The type that a schema requires, as a noun. */
function describe(schema: Description): string {
  const { anyOf, const: only, enum: values, minimum, maximum, format, type } = schema
  if (Array.isArray(anyOf)) return listed(anyOf.map(describe), 'or')
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  if (Array.isArray(type))
    return listed(
      type.map((each) => describe({ type: each })),
      'or',
    )
  const noun = NOUNS[String(format)] ?? NOUNS[String(type)] ?? `a valid ${format ?? type}`
  if (minimum !== undefined && maximum !== undefined) return `${noun} from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${noun} of at least ${minimum}`
  return maximum === undefined ? noun : `${noun} of at most ${maximum}`
}

/** Whether an object must have exactly one of its fields. */
function isExclusive({ minProperties, maxProperties }: Description): boolean {
  return minProperties === 1 && maxProperties === 1
}

function fieldsOf({ properties }: Description): string {
  return listed(Object.keys(properties ?? {}), 'and')
}

function listed(words: readonly string[], conjunction: string): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
