import type { TSchema } from '../shared/schema.ts'

const NAMES = new WeakMap<TSchema, string>()

/** The schema, which the document keeps under this name and refers to wherever it is used. */
export function named<S extends TSchema>(name: string, schema: S): S {
  NAMES.set(schema, name)
  return schema
}

/** The named schemas in any of these values, however deep, in the order in which they are met. Throws when two have one name. */
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
