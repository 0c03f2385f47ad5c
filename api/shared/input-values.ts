import { isRawNumber } from './exact-json.ts'

/** The keywords of a JSON Schema that decide where `null` is a value of its own. */
interface Node {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/**
 * Makes the members that a schema names what it can check, on the value itself: a `null` where the schema does not name `null`
 * is deleted, because to a caller `null` and an absent member mean the same; a raw number becomes a number. Members that
 * the schema does not name stay as they are.
 */
export function normaliseInput(schema: object, value: unknown): void {
  normaliseAt(schema as Node, value)
}

function normaliseAt({ anyOf, properties = {}, items }: Node, value: unknown): void {
  for (const branch of anyOf ?? []) normaliseAt(branch, value)
  if (Array.isArray(value)) {
    if (items) for (const index of value.keys()) normaliseMember(value as never, index, items)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(properties)) {
      if (Object.hasOwn(value, name)) normaliseMember(value as Record<string, unknown>, name, member)
    }
  }
}

function normaliseMember(parent: Record<string | number, unknown>, name: string | number, schema: Node): void {
  const value = parent[name]
  if (value === null && !Array.isArray(parent) && !acceptsNull(schema)) delete parent[name]
  else if (isRawNumber(value)) parent[name] = Number(JSON.stringify(value))
  else normaliseAt(schema, value)
}

function acceptsNull({ type, const: only, enum: values, anyOf }: Node): boolean {
  if (only !== undefined) return only === null
  if (values) return values.includes(null)
  if (anyOf) return anyOf.some(acceptsNull)
  return type === undefined || [type].flat().includes('null')
}
