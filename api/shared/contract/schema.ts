import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Static, type TSchema, Type } from 'typebox'
import { parseShopperId } from '../shopper-id.ts'
import { DrapeError, type FieldProblem } from './errors.ts'
import { type Path, problemsOf } from './field-problems.ts'
import { normaliseInput } from './input-values.ts'
import { parseIsoTime } from './iso-time.ts'

export { type Static, type TSchema, Type } from 'typebox'
export { formatPath, type Path } from './field-problems.ts'

/** The schema or null. */
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** URLs cannot contain the segments `.` and `../..`, even percent-encoded: no request could name such a resource. */
export const CALLER_ID = /^(?!\.{1,2}$)/

// The one compiler for all input: HTTP bodies, job payloads, environment, rows, manifests. Stops at the first problem,
// so that an invalid value never costs more than a valid one.
const ajv = createAjv({ allErrors: false })
// Lists every problem. Compiled when the first small value fails.
const thoroughAjv = createAjv({ allErrors: true })

function createAjv({ allErrors }: { allErrors: boolean }): Ajv2020 {
  const created = new Ajv2020({
    allErrors,
    strict: true,
    useDefaults: true,
    allowUnionTypes: true,
    verbose: true,
    // All schemas are our own: a process that starts need not compile the meta-schema to check them. `strict` still refuses unknown
    // keywords. Without the optimizer, a check is as fast and compiles in less than half the time.
    validateSchema: false,
    code: { optimize: false },
  })
  addFormats.default(created)
  created.addFormat('iso-time', (text: string) => !Number.isNaN(parseIsoTime(text).start))
  created.addFormat('caller-id', CALLER_ID)
  const isWebAddress = (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text)
  created.addFormat('web-address', isWebAddress)
  created.addFormat('end-user-id', (text: string) => CALLER_ID.test(text) && parseShopperId(text) === null)
  created.addFormat('image-address', (text: string) => isWebAddress(text) || /^upload:\/\/[0-9a-f]{64}$/.test(text))
  created.addKeyword({
    keyword: 'maxJsonKilobytes',
    type: 'object',
    schemaType: 'number',
    validate: (max: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= max * 1024,
  })
  return created
}

/** Problems of a value: one entry per field, at most 20; only the first problem of a large value. */
export type Check<T> = (
  value: unknown,
  written?: (path: Path) => Path,
) => { ok: true; value: T } | { ok: false; problems: FieldProblem[] }

/**
 * A check against a JSON Schema, compiled at its first use: a process uses few of its schemas, and starts 0.3 s faster
 * without compiling the others. Fills in defaults in place.
 * Paths of problems are written as callers write them, e.g. `products[0].images[1].source`; `written` maps a path in
 * the value to the path that the caller used.
 */
export function compileCheck<S extends TSchema>(schema: S): Check<Static<S>> {
  let validate: ValidateFunction<Static<S>> | undefined
  return (value, written = (path) => path) => {
    validate ??= ajv.compile<Static<S>>(schema)
    if (validate(value)) return { ok: true, value }
    const first = validate.errors ?? []
    if (!isSmall(value)) return { ok: false, problems: problemsOf(first, written) }
    const listAll = thoroughAjv.compile<Static<S>>(schema)
    listAll(value)
    return { ok: false, problems: problemsOf(listAll.errors ?? first, written) }
  }
}

const SMALL_VALUES = 1000
const SMALL_CHARACTERS = 100_000

/** Whether listing every problem of a value is cheap. Visits only a limited part of a large value. */
function isSmall(value: unknown): boolean {
  let [values, characters] = [0, 0]
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') characters += next.length
    if (typeof next === 'object' && next !== null) {
      const inner = Object.values(next)
      values += inner.length
      if (values > SMALL_VALUES) return false
      pending.push(...inner)
    }
    if (characters > SMALL_CHARACTERS) return false
  }
  return true
}

/** Like `compileCheck`, for input of callers: an optional member that is `null` counts as absent. */
export function compileInputCheck<S extends TSchema>(schema: S): Check<Static<S>> {
  const check = compileCheck(schema)
  return (value, written) => {
    normaliseInput(schema, value)
    return check(value, written)
  }
}

/** Like `compileInputCheck`, but throws `VALIDATION_FAILED` with the problems as details. */
export function compileParser<S extends TSchema>(
  schema: S,
): (value: unknown, written?: (path: Path) => Path) => Static<S> {
  const check = compileInputCheck(schema)
  return (value, written) => {
    const result = check(value, written)
    if (!result.ok) {
      throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: result.problems })
    }
    return result.value
  }
}

/** A schema as a slonik row type (Standard Schema v1), checked by the same compiler. */
export interface RowType<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'ajv'
    readonly validate: (value: unknown) => { readonly value: T } | { readonly issues: readonly { message: string }[] }
    readonly types?: { readonly input: unknown; readonly output: T }
  }
}

export function rowType<S extends TSchema>(schema: S): RowType<Static<S>> {
  const check = compileCheck(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'ajv',
      validate: (value) => {
        const result = check(value)
        if (result.ok) return { value: result.value }
        return { issues: result.problems.map(({ path, message }) => ({ message: `${path} ${message}` })) }
      },
    },
  }
}

/**
 * The number that the text of a form or a variable writes in plain digits, if the schema is of a number; otherwise the text.
 * `Number` also reads `1e3`, `0x10` and `1.0`, which can be typing errors.
 */
export function readNumber(text: string, schema: TSchema): number | string {
  const type = 'type' in schema ? schema.type : null
  const isNumber = type === 'integer' ? /^-?\d+$/.test(text) : type === 'number' && /^-?\d+(\.\d+)?$/.test(text)
  return isNumber ? Number(text) : text
}
