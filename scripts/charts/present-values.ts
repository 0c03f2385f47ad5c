import { schemaOfDefinition } from './definition-schema.ts'
import type { Value } from './values.ts'

const ALL_TYPES = ['string', 'number', 'boolean', 'object', 'array', 'null']

/**
 * The JSON Schema of the values: only the values in values.yaml, with the type of their default. `global` is shared with other
 * charts and may have more fields. The schema permits `otherNames`, by path, because the templates refuse them with the name to set.
 */
export function presentSchema(values: readonly Value[], otherNames: Readonly<Record<string, string>> = {}): string {
  const others = Object.entries(otherNames).map(([path, name]) => refusedValue(path.split('.'), name))
  const known = values.map((value) => {
    const more = others.filter(({ path }) => path.length > 1 && path[0] === value.path[0])
    return value.children === null ? value : { ...value, children: [...value.children, ...more] }
  })
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...objectOf([...known, ...others.filter(({ path }) => path.length === 1)]),
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

function refusedValue(path: readonly string[], name: string): Value {
  const description = `Refused: the name of other charts. Set ${name}.`
  return { path, description, rules: { type: ALL_TYPES }, fallback: '', children: null }
}

function objectOf(values: readonly Value[]): Record<string, unknown> {
  const properties = Object.fromEntries(values.map((value) => [value.path.at(-1) ?? '', schemaOf(value)]))
  return { type: 'object', properties, additionalProperties: false }
}

function schemaOf({ path, description, rules, fallback, children }: Value): Record<string, unknown> {
  if (children !== null) {
    const shared = path.length === 1 && path[0] === 'global' ? { additionalProperties: true } : {}
    return { description, ...objectOf(children), ...shared, ...resolveEntries(children, rules) }
  }
  return { description, ...(rules.enum ? {} : { type: typeOf(path, fallback) }), ...resolveDefinition(rules) }
}

/** `entriesLike`: entries of any DNS name, with the values of this entry and `like`, which names an entry. */
function resolveEntries(
  children: readonly Value[],
  { entriesLike, ...rules }: Value['rules'],
): Record<string, unknown> {
  if (entriesLike === undefined) return rules
  const first = children.find(({ path }) => path.at(-1) === entriesLike)
  const { properties } = objectOf(first?.children ?? [])
  const description = `Pool that the entry takes the values from that it does not set. Default ${entriesLike}.`
  const like = { description, type: 'string' }
  return {
    ...rules,
    propertyNames: { pattern: '^[a-z0-9]([-a-z0-9]{0,44}[a-z0-9])?$' },
    additionalProperties: {
      type: ['object', 'null'],
      properties: { like, ...(properties as object) },
      additionalProperties: false,
    },
  }
}

/**
 * `definition`: a spec or a field of a custom resource. `fields`: an object with such fields by name. `definitionByName`: a map of
 * such specs; null removes an entry.
 */
function resolveDefinition({
  definition,
  fields,
  definitionByName,
  ...rules
}: Value['rules']): Record<string, unknown> {
  if (definition !== undefined) return { ...schemaOfDefinition(String(definition)), ...rules }
  if (fields !== undefined) {
    const found = Object.entries(fields as Readonly<Record<string, string>>)
    const properties = Object.fromEntries(found.map(([name, field]) => [name, schemaOfDefinition(field)]))
    return { ...rules, properties, additionalProperties: false }
  }
  if (definitionByName === undefined) return rules
  const spec = schemaOfDefinition(String(definitionByName))
  return { ...rules, additionalProperties: { ...spec, type: ['object', 'null'] } }
}

function typeOf(path: readonly string[], fallback: unknown): string | readonly string[] {
  if (Array.isArray(fallback)) return 'array'
  if (Number.isInteger(fallback)) return 'integer'
  if (fallback === null) return ['null']
  const type = typeof fallback
  if (['string', 'number', 'boolean', 'object'].includes(type)) return type
  throw new Error(`${path.join('.')} has a default of no known type`)
}
