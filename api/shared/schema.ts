import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Static, type TSchema, Type } from 'typebox'
import { DrapeError, type FieldProblem } from './errors.ts'
import { type Path, problemsOf } from './field-problems.ts'

export { type Static, type TSchema, Type } from 'typebox'
export { formatPath, type Path } from './field-problems.ts'

/** What the schema says, or null. */
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

// One compiler for everything that enters a process: HTTP bodies, job payloads, environment, rows, manifests.
const ajv = new Ajv2020({ allErrors: true, strict: true, useDefaults: true, allowUnionTypes: true, verbose: true })
addFormats.default(ajv)
ajv.addFormat('web-address', (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text))

/** What is wrong with a value: one entry per offending field. */
export type Check<T> = (
  value: unknown,
  written?: (path: Path) => Path,
) => { ok: true; value: T } | { ok: false; problems: FieldProblem[] }

/**
 * Compiles a JSON Schema to a check. Defaults of the schema are filled in on the value itself.
 * Paths of problems are written as a caller would: `products[0].images[1].source`; `written` says where the caller put a
 * field that lies elsewhere in the value.
 */
export function compileCheck<S extends TSchema>(schema: S): Check<Static<S>> {
  const validate = ajv.compile<Static<S>>(schema)
  return (value, written = (path) => path) => {
    if (validate(value)) return { ok: true, value }
    return { ok: false, problems: problemsOf(validate.errors ?? [], written) }
  }
}

/** Like `compileCheck`, but throws `VALIDATION_FAILED` with the problems as details. */
export function compileParser<S extends TSchema>(
  schema: S,
): (value: unknown, written?: (path: Path) => Path) => Static<S> {
  const check = compileCheck(schema)
  return (value, written) => {
    const result = check(value, written)
    if (!result.ok) {
      throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: result.problems })
    }
    return result.value
  }
}

/** A schema in the shape that slonik asks row types in (Standard Schema v1), checked by the same compiler. */
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
