import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Static, TSchema } from 'typebox'
import { DrapeError, type FieldProblem } from './errors.ts'

export { type Static, type TSchema, Type } from 'typebox'

// One compiler for everything that enters a process: HTTP bodies, job payloads, environment, rows, manifests.
const ajv = new Ajv2020({ allErrors: true, strict: true, useDefaults: true, allowUnionTypes: true })
addFormats.default(ajv)

/** What is wrong with a value: one entry per offending field. */
export type Check<T> = (value: unknown) => { ok: true; value: T } | { ok: false; problems: FieldProblem[] }

/**
 * Compiles a JSON Schema to a check. Defaults of the schema are filled in on the value itself.
 * Paths of problems are written as a caller would: `products[0].images[1].source`.
 */
export function compileCheck<S extends TSchema>(schema: S): Check<Static<S>> {
  const validate = ajv.compile<Static<S>>(schema)
  return (value) => {
    if (validate(value)) return { ok: true, value }
    return { ok: false, problems: problemsOf(validate.errors ?? []) }
  }
}

/** Like `compileCheck`, but throws `VALIDATION_FAILED` with the problems as details. */
export function compileParser<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = compileCheck(schema)
  return (value) => {
    const result = check(value)
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

function problemsOf(errors: readonly ErrorObject[]): FieldProblem[] {
  const byPath = new Map<string, string>()
  for (const error of errors) {
    // The branches of anyOf/oneOf report themselves one by one; only the outer verdict helps a caller.
    if (error.keyword === 'if') continue
    const path = pathOf(error)
    if (!byPath.has(path)) byPath.set(path, messageOf(error))
  }
  return [...byPath].map(([path, message]) => ({ path, message }))
}

function pathOf(error: ErrorObject): string {
  const parts = error.instancePath.split('/').slice(1).map(unescapePointer)
  const missing = error.keyword === 'required' ? [String(error.params.missingProperty)] : []
  const extra = /^(additional|unevaluated)Properties$/.test(error.keyword)
    ? [String(error.params.additionalProperty ?? error.params.unevaluatedProperty)]
    : []
  return [...parts, ...missing, ...extra].reduce((path, part) => {
    if (/^\d+$/.test(part)) return `${path}[${part}]`
    return path === '' ? part : `${path}.${part}`
  }, '')
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

function messageOf(error: ErrorObject): string {
  if (error.keyword === 'required') return 'is required'
  if (error.keyword === 'enum')
    return `must be one of ${error.params.allowedValues.map((v: unknown) => JSON.stringify(v)).join(', ')}`
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params.allowedValue)}`
  return error.message ?? 'is not valid'
}
