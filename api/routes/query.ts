import type { ObjectSchema } from '../openapi/operation.ts'
import { compileParser, type Static } from '../shared/schema.ts'
import type { AppContext } from '../state.ts'

/** Parses queries. Text of digits becomes a number where the schema has an integer. Throws `VALIDATION_FAILED`. */
export function createQueryParser<S extends ObjectSchema>(schema: S): (ctx: AppContext) => Static<S> {
  const parse = compileParser(schema)
  const integers = Object.entries(schema.properties).flatMap(([name, property]) =>
    'type' in property && property.type === 'integer' ? [name] : [],
  )
  return ({ query }) => {
    const numbers = integers.flatMap((name) => {
      const text = query[name]
      // What is no number stays text, for the schema to refuse.
      return typeof text === 'string' && /^\d+$/.test(text) ? [[name, Number(text)]] : []
    })
    return parse({ ...query, ...Object.fromEntries(numbers) })
  }
}
