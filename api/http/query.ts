import { compileParser, type Static } from '../shared/contract/schema.ts'
import { assertStorable } from './bodies/bounded-json.ts'
import type { ObjectSchema } from './openapi/operation.ts'
import type { AppContext } from './state.ts'

/** Parses queries. Converts digits to a number where the schema requires an integer. Throws `VALIDATION_FAILED`, also for texts that Postgres refuses. */
export function createQueryParser<S extends ObjectSchema>(schema: S): (ctx: AppContext) => Static<S> {
  const parse = compileParser(schema)
  const integers = Object.entries(schema.properties).flatMap(([name, property]) =>
    'type' in property && property.type === 'integer' ? [name] : [],
  )
  return ({ query }) => {
    const numbers = integers.flatMap((name) => {
      const text = query[name]
      // Other texts stay texts, which the schema rejects.
      return typeof text === 'string' && /^\d+$/.test(text) ? [[name, Number(text)]] : []
    })
    for (const [name, value] of Object.entries(query)) assertStorable(value, name)
    return parse({ ...query, ...Object.fromEntries(numbers) })
  }
}
