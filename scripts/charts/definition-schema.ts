import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Keywords that Helm validates like the API server. Only the API server applies defaults and checks required fields, after the chart's
 * defaults.
 */
const KEPT = ['type', 'enum', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']

/**
 * The JSON Schema of the spec of a custom resource, or of a field in it, for example `WorkerPool.drain`. Rejects unknown fields
 * at every depth: the API server drops them with at most a warning.
 */
export function schemaOfDefinition(name: string): Schema {
  const [kind, ...path] = name.split('.')
  const found = CUSTOM_RESOURCES.find(({ type }) => type.kind === kind)
  if (found === undefined) throw new Error(`${kind} is not a kind of custom resource`)
  const { spec } = found.definition as unknown as {
    spec: { versions: readonly { schema: { openAPIV3Schema: { properties: { spec: Schema } } } }[] }
  }
  const root = spec.versions[0].schema.openAPIV3Schema.properties.spec
  return closed(path.reduce<Schema>((schema, field) => fieldOf(schema, field, name), root))
}

function fieldOf({ properties }: Schema, field: string, name: string): Schema {
  const found = (properties as Readonly<Record<string, Schema>> | undefined)?.[field]
  if (found === undefined) throw new Error(`${name} is not a field of a custom resource`)
  return found
}

function closed(schema: Schema): Schema {
  if ('x-kubernetes-int-or-string' in schema) return { type: ['integer', 'number', 'string'] }
  if ('x-kubernetes-preserve-unknown-fields' in schema) return { type: 'object' }
  const kept = Object.fromEntries(KEPT.filter((word) => word in schema).map((word) => [word, schema[word]]))
  const { items, properties, additionalProperties, type } = schema
  if (items !== undefined) return { ...kept, items: closed(items as Schema) }
  if (type !== 'object') return kept
  if (additionalProperties !== undefined) {
    return { ...kept, additionalProperties: closed(additionalProperties as Schema) }
  }
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>)
  return {
    ...kept,
    properties: Object.fromEntries(fields.map(([field, value]) => [field, closed(value)])),
    additionalProperties: false,
  }
}
