import type { JsonSchema } from './openapi-document.ts'

type Keywords = Readonly<Record<string, unknown>>
type Path = readonly (string | number)[]

export interface Examples {
  /** The schema of a reference. */
  resolve(schema: JsonSchema): JsonSchema
  /** Values that refer to existing data, by the name of the field. */
  readonly values: Readonly<Record<string, unknown>>
}

/** A valid value with every member of the schema; of mutually exclusive members, the first. */
export function fullValueOf(schema: JsonSchema, examples: Examples, field = ''): unknown {
  if (Object.hasOwn(examples.values, field)) return examples.values[field]
  const keywords = keywordsOf(schema, examples)
  const { type, const: only, enum: values, anyOf, items, minimum = 1, examples: own } = keywords
  if (only !== undefined) return only
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return fullValueOf(anyOf[0], examples, field)
  if (Array.isArray(own)) return own[0]
  if (type === 'array') return [fullValueOf(items as JsonSchema, examples)]
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return minimum
  if (type === 'string') return 'text'
  const members = Object.entries(propertiesOf(keywords))
  const some = keywords.maxProperties === 1 ? members.slice(0, 1) : members
  return Object.fromEntries(some.map(([name, property]) => [name, fullValueOf(property, examples, name)]))
}

/** Paths of the optional members of a value that are not nullable, including members that the value lacks. */
export function optionalMembersOf(schema: JsonSchema, value: unknown, examples: Examples, at: Path = []): Path[] {
  const keywords = keywordsOf(schema, examples)
  if (Array.isArray(value)) return optionalMembersOf(keywords.items as JsonSchema, value[0], examples, [...at, 0])
  if (typeof value !== 'object' || value === null) return []
  const branch = Array.isArray(keywords.anyOf) ? keywordsOf(keywords.anyOf[0], examples) : keywords
  const { required = [] } = branch as { required?: readonly string[] }
  return Object.entries(propertiesOf(branch)).flatMap(([name, property]) => [
    ...(required.includes(name) || allowsNull(property, examples) ? [] : [[...at, name]]),
    ...optionalMembersOf(property, (value as Record<string, unknown>)[name], examples, [...at, name]),
  ])
}

/** A copy with another member at that path; undefined removes it. */
export function withMember(value: unknown, [name, ...rest]: Path, member: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner, i) => (i === name ? withMember(inner, rest, member) : inner))
  const object = value as Record<string | number, unknown>
  return { ...object, [name]: rest.length === 0 ? member : withMember(object[name], rest, member) }
}

function keywordsOf(schema: JsonSchema, { resolve }: Examples): Keywords {
  const resolved = resolve(schema)
  return typeof resolved === 'boolean' ? {} : resolved
}

function propertiesOf({ properties = {} }: Keywords): Record<string, JsonSchema> {
  return properties as Record<string, JsonSchema>
}

function allowsNull(schema: JsonSchema, examples: Examples): boolean {
  const { type, anyOf } = keywordsOf(schema, examples)
  return type === 'null' || (Array.isArray(anyOf) && anyOf.some((branch) => allowsNull(branch, examples)))
}
