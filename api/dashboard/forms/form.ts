import type { Context } from 'koa'
import { assertStorable } from '../../http/bodies/bounded-json.ts'
import { createTextReader } from '../../http/bodies/text-body.ts'
import { parseBody } from '../../http/middleware/body.ts'
import { DrapeError, type FieldProblem } from '../../shared/contract/errors.ts'
import { compileParser, type Static, type TSchema, Type } from '../../shared/contract/schema.ts'
import { convertText } from '../../shared/contract/setting.ts'
import type { DashboardContext, DashboardMiddleware } from '../state.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const MAX_FORM_BYTES = 256 * 1024
const readText = createTextReader({ types: [FORM_TYPE], maxBytes: MAX_FORM_BYTES })
const MAX_FIELDS = 1000

/**
 * Reads an urlencoded or multipart form. Throws `VALIDATION_FAILED` when it is malformed, too large or contains text
 * that cannot be stored.
 */
export function readForm(): DashboardMiddleware {
  const parseMultipart = parseBody()
  return async function form(ctx, next) {
    ctx.state.form = new URLSearchParams()
    ctx.state.files = []
    if (ctx.method !== 'POST') return next()
    // Only operators upload files; uploads of others are not received.
    if (ctx.is('multipart') && ctx.state.operator === null) return next()
    if (ctx.is('multipart')) {
      return parseMultipart(ctx as never, () => {
        ctx.state.form = new URLSearchParams(Object.entries(ctx.state.fields))
        return next()
      })
    }
    const text = await readText(ctx as unknown as Context)
    ctx.state.form = parseFields(text)
    for (const [name, value] of ctx.state.form) assertStorable(value, name)
    return next()
  }
}

/** Throws `VALIDATION_FAILED` for more fields than any form has, before parsing. */
function parseFields(text: string): URLSearchParams {
  let fields = 1
  for (let i = text.indexOf('&'); i >= 0; i = text.indexOf('&', i + 1)) {
    if (++fields > MAX_FIELDS) throw new DrapeError('VALIDATION_FAILED', `The form has more than ${MAX_FIELDS} fields.`)
  }
  return new URLSearchParams(text)
}

type FieldsSchema = TSchema & { properties: Record<string, TSchema> }

/**
 * Creates a parser of form fields: trims texts, omits empty ones, converts numbers. The parser throws
 * `VALIDATION_FAILED` with the problem of each field; `words` replaces the message where the schema has only a pattern.
 */
export function fieldsReader<S extends FieldsSchema>(
  schema: S,
  words: { readonly [K in keyof S['properties']]?: string } = {},
): (source: URLSearchParams) => Static<S> {
  const parse = compileParser(schema)
  return (source) => {
    const values: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(schema.properties)) {
      const text = source.get(name)?.trim() ?? ''
      if (text !== '') values[name] = convertText(text, property)
    }
    try {
      return parse(values)
    } catch (error) {
      throw error instanceof DrapeError ? inWords(error, { schema, values, words }) : error
    }
  }
}

/** Why an operator acts. */
export const Reason = Type.String({ minLength: 3, maxLength: 500 })
export const readReason = fieldsReader(Type.Object({ reason: Reason }))

/** Replaces messages about typed values that do not match. */
function inWords(
  { code, message, details }: DrapeError,
  {
    schema,
    values,
    words,
  }: { schema: FieldsSchema; values: object; words: Readonly<Record<string, string | undefined>> },
): DrapeError {
  const problems = Array.isArray(details) ? (details as readonly FieldProblem[]) : []
  const worded = problems.map((problem) => {
    const { path } = problem
    const isEmail = 'format' in (schema.properties[path] ?? {}) && Object(schema.properties[path]).format === 'email'
    const own = words[path] ?? (isEmail ? 'Enter an e-mail address such as ada@shop.example.' : undefined)
    return own !== undefined && Object.hasOwn(values, path) ? { path, message: own } : problem
  })
  return new DrapeError(code, message, { details: worded })
}

/** Query parameters of a page. */
export function queryOf(ctx: DashboardContext): URLSearchParams {
  return parseQuery(ctx.querystring)
}

/** Throws `VALIDATION_FAILED` for text that cannot be stored. */
export function parseQuery(text: string): URLSearchParams {
  const query = new URLSearchParams(text)
  for (const [name, value] of query) assertStorable(value, name)
  return query
}
