import type { Middleware } from 'koa'
import { isObject } from '../json-object.ts'
import { codesOf } from '../openapi/answers.ts'
import { ERROR_CONDITIONS } from '../openapi/error-conditions.ts'
import { isBehindKey, nameOf, type Operation } from '../openapi/operation.ts'
import { DrapeError, ERROR_CODES, type ErrorCode } from '../shared/errors.ts'
import type { AppContext, AppState } from '../state.ts'
import { TEST_FAILURES } from './inputs.ts'

/** Chooses a refusal of any route. */
const TEST_HEADER = 'x-drape-test'
/** Fields of bodies that choose a refusal, by route; of other routes, the parameters of the path do. */
const TEST_FIELDS: ReadonlyMap<string, 'externalUserId' | 'externalId'> = new Map([
  ['POST /tryon/v1/try-on', 'externalUserId'],
  ['POST /tryon/v1/try-on/sync', 'externalUserId'],
  ['POST /tryon/v1/images/upload', 'externalUserId'],
  ['POST /tryon/v1/products', 'externalId'],
])

/** They depend on the request itself: 405 names methods, 431 comes before any key. */
const REAL: readonly ErrorCode[] = ['METHOD_NOT_ALLOWED', 'HEADERS_TOO_LARGE']

/** The codes with which a test input makes an operation refuse a request. Failures of a try-on come later, as a failed generation. */
function simulatedCodes(operation: Operation): readonly ErrorCode[] {
  const isTryOn = nameOf(operation).startsWith('POST /tryon/v1/try-on')
  return codesOf(operation).filter((code) => !REAL.includes(code) && !(isTryOn && code in TEST_FAILURES))
}

/**
 * Refuses requests of test keys with the code in their ID or their header, `test_RATE_LIMITED`, as the route would. Stands behind the credentials and,
 * where there is one, behind the body. Other keys and other IDs pass.
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

/** Codes whose callers try again, with the seconds after which. */
const RETRIED: readonly ErrorCode[] = ['RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE', 'SERVICE_UNAVAILABLE']

function simulatedError(code: ErrorCode): DrapeError {
  const message = `Test mode: ${ERROR_CONDITIONS[code]}.`
  const details = code === 'VALIDATION_FAILED' ? { details: [{ path: '', message: 'is a test input' }] } : {}
  return new DrapeError(code, message, { ...details, ...(RETRIED.includes(code) && { retryAfterSeconds: 1 }) })
}

/** How a code is reached with a test key. */
export type TestWay =
  | { readonly code: ErrorCode; readonly by: 'failure' | 'field'; readonly route: string; readonly field: string }
  | { readonly code: ErrorCode; readonly by: 'parameter' | 'header'; readonly route: string }
  /** Only real requests meet the code, or only routes of shops. */
  | { readonly code: ErrorCode; readonly by: 'request' | 'none' }

/** One entry for each code of the interface. */
export function listTestWays(operations: readonly Operation[]): TestWay[] {
  const routes = operations
    .filter(isBehindKey)
    .map((operation) => ({ route: nameOf(operation), known: simulatedCodes(operation) }))
  return ERROR_CODES.map((code) => {
    if (code in TEST_FAILURES) return { code, by: 'failure', route: 'POST /tryon/v1/try-on', field: 'externalUserId' }
    const able = routes.flatMap(({ route, known }) => (known.includes(code) ? [route] : []))
    for (const [route, field] of TEST_FIELDS) if (able.includes(route)) return { code, by: 'field', route, field }
    const parameter = able.find((route) => route.includes('{'))
    if (parameter !== undefined) return { code, by: 'parameter', route: parameter }
    if (able.length > 0) return { code, by: 'header', route: able[0] }
    return { code, by: REAL.includes(code) ? 'request' : 'none' }
  })
}

/** The table of `docs/test-mode.md`. */
export function describeTestWays(operations: readonly Operation[]): string {
  const rows = listTestWays(operations).map((way) => `| \`${way.code}\` | ${describeWay(way)} |`)
  return ['| Code | With a test key |', '|---|---|', ...rows].join('\n')
}

function describeWay(way: TestWay): string {
  const input = `test_${way.code}`
  switch (way.by) {
    case 'failure':
      return `\`${way.route}\` with \`${way.field}: ${input}\`; the generation fails`
    case 'field':
      return `\`${way.route}\` with \`${way.field}: ${input}\``
    case 'parameter':
      return `\`${way.route.replace(/\{\w+\}/, input)}\``
    case 'header':
      return `\`${way.route}\` with the header \`${TEST_HEADER}: ${input}\``
    case 'request':
      return way.code === 'METHOD_NOT_ALLOWED' ? '`PUT /tryon/v1/account`' : 'more than 16 KB of headers'
    case 'none':
      return 'routes of shops only, which have no test mode'
  }
}
