import { ISO_TIME } from '../../shared/contract/iso-time.ts'
import { CALLER_ID, type TSchema } from '../../shared/contract/schema.ts'

/** A JSON Schema in an OpenAPI 3.1 document. */
export type JsonSchema = Readonly<Record<string, unknown>>

export type Names = ReadonlyMap<TSchema, string>

/** Reference to the named schema. */
export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/**
 * A schema as the document presents it: named schemas become references. In schemas of requests, a field with a default
 * is optional.
 */
export function describeSchema(schema: TSchema, names: Names): JsonSchema {
  const keywords = Object.entries(schema).flatMap(([keyword, value]) =>
    describeKeyword(keyword, value, { schema, names }),
  )
  return { ...typeOfValues(schema), ...Object.fromEntries(keywords) }
}

/** Readers and client generators treat an enum without a type as any value. */
function typeOfValues({ enum: values }: { readonly enum?: readonly unknown[] }): { type?: string } {
  if (values?.every((value) => typeof value === 'string')) return { type: 'string' }
  return values?.every(Number.isInteger) ? { type: 'integer' } : {}
}

/** Like `describeSchema`, but a reference if the schema itself has a name. */
export function describeOrRefer(schema: TSchema, names: Names): JsonSchema {
  const name = names.get(schema)
  return name === undefined ? describeSchema(schema, names) : refTo(name)
}

/**
 * Client generators treat a field with a default as always present, also in requests, so the default moves into the
 * description.
 */
function withDefaultInWords({ default: value, ...schema }: JsonSchema): JsonSchema {
  if (value === undefined || typeof value === 'object') return schema
  const words = `Default: ${JSON.stringify(value)}.`
  return { ...schema, description: schema.description === undefined ? words : `${schema.description} ${words}` }
}

function describeKeyword(
  keyword: string,
  value: unknown,
  { schema, names }: { schema: TSchema; names: Names },
): [string, unknown][] {
  const describe = (inner: unknown) => describeOrRefer(inner as TSchema, names)
  switch (keyword) {
    case 'properties':
      return [[keyword, mapValues(value, (inner) => withDefaultInWords(describe(inner)))]]
    case 'patternProperties':
      // Records, which readers recognise by this keyword.
      return [['additionalProperties', describe(Object.values(value as object)[0])]]
    case 'items':
      return [[keyword, describe(value)]]
    case 'anyOf':
      return [[keyword, (value as unknown[]).map(describe)]]
    case 'required': {
      const needed = (value as string[]).filter((name) => !hasDefault(schema, name))
      return needed.length === 0 ? [] : [[keyword, needed]]
    }
    case 'maxJsonKilobytes':
      // Not a JSON Schema keyword: the description of the field states the limit.
      return []
    case 'format':
      return OWN_FORMATS[String(value)] ?? [[keyword, value]]
    default:
      return [[keyword, value]]
  }
}

/** Formats that only our validator knows, as standard keywords. */
const OWN_FORMATS: Readonly<Record<string, [string, unknown][]>> = {
  'web-address': [
    ['format', 'uri'],
    ['pattern', '^[Hh][Tt][Tt][Pp][Ss]?://'],
  ],
  'image-address': [
    ['format', 'uri'],
    ['pattern', '^([Hh][Tt][Tt][Pp][Ss]?://|upload://[0-9a-f]{64}$)'],
  ],
  'end-user-id': [['pattern', CALLER_ID.source]],
  'iso-time': [['pattern', ISO_TIME.source]],
  'caller-id': [['pattern', CALLER_ID.source]],
}

function hasDefault(schema: TSchema, name: string): boolean {
  const { properties } = schema as { properties?: Readonly<Record<string, { default?: unknown }>> }
  return properties?.[name]?.default !== undefined
}

function mapValues(value: unknown, map: (inner: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, map(inner)]))
}
