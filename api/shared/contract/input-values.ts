import { isRawNumber } from './exact-json.ts'

/** JSON Schema keywords that decide where `null` is a distinct value. */
interface Node {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/**
 * Normalises the members that a schema names, in place: deletes a `null` where the schema does not allow `null`,
 * because callers use `null` and an absent member interchangeably; converts a raw number to a number. Leaves other
 * members unchanged.
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
