import fc from 'fast-check'
import type { JsonSchema } from '../openapi-document.ts'

export interface Vocabulary {
  /** The schema of a reference. */
  resolve(schema: JsonSchema): JsonSchema
  /** Texts that refer to existing data, by the name of the field. */
  readonly texts: Readonly<Record<string, readonly string[]>>
}

type Keywords = Readonly<Record<string, unknown>>

/** Values that a schema allows: the part of JSON Schema that the OpenAPI document uses. */
export function valuesOf(schema: JsonSchema, vocabulary: Vocabulary, field = ''): fc.Arbitrary<unknown> {
  const resolved = vocabulary.resolve(schema)
  if (typeof resolved === 'boolean') return fc.jsonValue()
  const { enum: values, const: only, anyOf, type } = resolved
  if (Array.isArray(values)) return fc.constantFrom(...values)
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((choice) => valuesOf(choice, vocabulary, field)))
  switch (type) {
    case 'object':
      return objectsOf(resolved, vocabulary)
    case 'array':
      return listsOf(resolved, vocabulary)
    case 'string':
      return textsOf(resolved, vocabulary, field)
    case 'integer':
    case 'number':
      return numbersOf(resolved)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectsOf(schema: Keywords, vocabulary: Vocabulary): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, minProperties, maxProperties } = schema
  const fields = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, property]) => [name, valuesOf(property, vocabulary, name)] as const,
  )
  if (minProperties === 1 && maxProperties === 1) {
    return fc.oneof(...fields.map(([name, value]) => fc.record({ [name]: value })))
  }
  if (fields.length === 0) {
    const inner = valuesOf((additionalProperties ?? true) as JsonSchema, vocabulary)
    return fc.dictionary(fc.string({ maxLength: 12 }), inner, { maxKeys: Math.min(5, Number(maxProperties ?? 5)) })
  }
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as string[] })
}

function listsOf({ items, minItems = 0, maxItems = 3 }: Keywords, vocabulary: Vocabulary): fc.Arbitrary<unknown> {
  const minLength = Number(minItems)
  return fc.array(valuesOf((items ?? true) as JsonSchema, vocabulary), {
    minLength,
    maxLength: Math.max(minLength, Math.min(3, Number(maxItems))),
  })
}

function textsOf(schema: Keywords, { texts }: Vocabulary, field: string): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = 40 } = schema
  const known = texts[field]
  if (known) return fc.constantFrom(...known)
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: 'grapheme', minLength: Number(minLength), maxLength: Math.min(40, Number(maxLength)) })
}

function numbersOf({ type, minimum = -1000, maximum = 1000 }: Keywords): fc.Arbitrary<number> {
  const range = { min: Number(minimum), max: Number(maximum) }
  return type === 'integer' ? fc.integer(range) : fc.double({ ...range, noNaN: true })
}
