import type { Middleware } from 'koa'
import { isObject } from '../http/json-object.ts'
import { codesOf } from '../http/openapi/answers.ts'
import { isBehindKey, nameOf, type Operation } from '../http/openapi/operation.ts'
import type { AppContext, AppState } from '../http/state.ts'
import { ERROR_CODES, ERRORS, FAILURE_CODES } from '../shared/contract/error-codes.ts'
import { DrapeError, type ErrorCode } from '../shared/contract/errors.ts'

/** Header that requests an error from any route. */
const TEST_HEADER = 'x-drape-test'
/** Body fields that request an error, by route; on other routes, path parameters do. */
const TEST_FIELDS: ReadonlyMap<string, 'externalUserId' | 'externalId'> = new Map([
  ['POST /tryon/v1/try-on', 'externalUserId'],
  ['POST /tryon/v1/try-on/sync', 'externalUserId'],
  ['POST /tryon/v1/images/upload', 'externalUserId'],
  ['POST /tryon/v1/products', 'externalId'],
])

/** Codes that depend on the request itself: 405 lists methods, 431 precedes authentication. */
const NOT_SIMULATED: readonly ErrorCode[] = ['METHOD_NOT_ALLOWED', 'HEADERS_TOO_LARGE']

/**
 * Error codes that a test input can request from an operation. Failures of a try-on occur later, as a failed
 * generation.
 */
function simulatedCodes(operation: Operation): readonly ErrorCode[] {
  const isTryOn = nameOf(operation).startsWith('POST /tryon/v1/try-on')
  return codesOf(operation).filter(
    (code) => !NOT_SIMULATED.includes(code) && !(isTryOn && FAILURE_CODES.includes(code)),
  )
}

/**
 * Refuses requests of test keys with the error code in their ID or header, e.g. `test_RATE_LIMITED`, as the route
 * would. Runs after authentication and, if there is one, after the body parser. Other keys and IDs pass.
 */
export function simulateRefusals(): Middleware<AppState> {
  return function refuse(ctx, next) {
    const { account, route } = ctx.state
    if (account.testOf === null) return next()
    const asked = [ctx.get(TEST_HEADER), ...readIds(ctx)]
    const code = simulatedCodes(route).find((known) => asked.includes(`test_${known}`))
    if (code === undefined) return next()
    ctx.state.isSimulated = true
    throw simulatedError(code)
  }
}

function readIds({ params, state }: AppContext): unknown[] {
  const field = TEST_FIELDS.get(nameOf(state.route))
  if (field === undefined) return Object.values(params ?? {})
  return [state.fields?.[field], isObject(state.body) ? state.body[field] : undefined]
}

/** Codes that callers retry, with the delay in seconds. */
const RETRIED: readonly ErrorCode[] = ['RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE', 'SERVICE_UNAVAILABLE']

function simulatedError(code: ErrorCode): DrapeError {
  const message = `Test mode: ${ERRORS[code].condition}.`
  const details = code === 'VALIDATION_FAILED' ? { details: [{ path: '', message: 'is a test input' }] } : {}
  return new DrapeError(code, message, { ...details, ...(RETRIED.includes(code) && { retryAfterSeconds: 1 }) })
}

/** How to get an error code with a test key. */
export type TestWay =
  | { readonly code: ErrorCode; readonly by: 'failure' | 'field'; readonly route: string; readonly field: string }
  | { readonly code: ErrorCode; readonly by: 'parameter' | 'header'; readonly route: string }
  /** Only real requests, or only routes of shops, get this code. */
  | { readonly code: ErrorCode; readonly by: 'request' | 'none' }

/** One entry per error code. */
export function listTestWays(operations: readonly Operation[]): TestWay[] {
  const routes = operations
    .filter(isBehindKey)
    .map((operation) => ({ route: nameOf(operation), known: simulatedCodes(operation) }))
  return ERROR_CODES.map((code) => {
    if (FAILURE_CODES.includes(code))
      return { code, by: 'failure', route: 'POST /tryon/v1/try-on', field: 'externalUserId' }
    const able = routes.flatMap(({ route, known }) => (known.includes(code) ? [route] : []))
    for (const [route, field] of TEST_FIELDS) if (able.includes(route)) return { code, by: 'field', route, field }
    const parameter = able.find((route) => route.includes('{'))
    if (parameter !== undefined) return { code, by: 'parameter', route: parameter }
    if (able.length > 0) return { code, by: 'header', route: able[0] }
    return { code, by: NOT_SIMULATED.includes(code) ? 'request' : 'none' }
  })
}

const [USUAL] = TEST_FIELDS

/** Table of `docs/test-mode.md`: the codes that `externalUserId` of a try-on does not select. */
export function describeTestWays(operations: readonly Operation[]): string {
  const ways = listTestWays(operations)
  const own = ways.filter((way) => way.by !== 'none' && !('field' in way && way.route === USUAL[0]))
  const without = ways.filter(({ by }) => by === 'none').map(({ code }) => `\`${code}\``)
  const rows = own.map((way) => `| \`${way.code}\` | ${describeWay(way)} |`)
  rows.push(`| ${without.join(', ')} | routes of shops only, which have no test mode |`)
  return ['| Code | With a test key |', '|---|---|', ...rows].join('\n')
}

function describeWay(way: TestWay): string {
  const input = `test_${way.code}`
  switch (way.by) {
    case 'failure':
    case 'field':
      return `\`${way.route}\` with \`${way.field}: ${input}\``
    case 'parameter':
      return `\`${way.route.replace(/\{\w+\}/, input)}\``
    case 'header':
      return `\`${way.route}\` with the header \`${TEST_HEADER}: ${input}\``
    case 'request':
    case 'none':
      return way.code === 'METHOD_NOT_ALLOWED' ? '`PUT /tryon/v1/account`' : 'more than 16 KB of headers'
  }
}
