import type { TSchema } from '../../shared/contract/schema.ts'

const NAMES = new WeakMap<TSchema, string>()

/** Names a schema: the document stores it once and refers to it. */
export function named<S extends TSchema>(name: string, schema: S): S {
  NAMES.set(schema, name)
  return schema
}

/**
 * The named schemas in these values at any depth, in order of appearance. Throws when two schemas have the same name.
 */
export function findNamed(values: readonly unknown[]): Map<TSchema, string> {
  const found = new Map<TSchema, string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.has(value)) return
    const name = NAMES.get(value)
    if (name !== undefined) {
      if ([...found.values()].includes(name)) throw new Error(`Two schemas have the name ${name}.`)
      found.set(value, name)
    }
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(values)
  return found
}
