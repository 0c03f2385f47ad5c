import { ERROR_CODES, ERRORS } from '../../shared/contract/error-codes.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import { OPERATION_EXAMPLES } from './examples/operation-examples.ts'
import { describeOrRefer, type JsonSchema, type Names, refTo } from './json-schema.ts'
import { type Access, isBehindKey, type Operation, type Success } from './operation.ts'

/** Response headers, by component name. */
export const HEADERS = {
  'X-Request-Id': 'ID of the request in our logs: the sent ID if it has a simple format, otherwise a new one.',
  'RateLimit-Limit': 'Limit of the account in requests per minute. Reads and writes have separate limits.',
  'RateLimit-Remaining':
    'Requests that are allowed immediately. The maximum burst is one minute of writes, or 4 s of reads (at least 120).',
  'RateLimit-Reset': 'Seconds until the maximum burst is available again.',
  'Retry-After':
    'Seconds to wait before the next attempt. After a 429 with a random share, so that concurrent callers do not return together.',
  'Idempotent-Replay': 'true when the response repeats the first response.',
  Deprecation:
    'Sent when the request has a field of an older format: the date since which such formats are deprecated (RFC 9745).',
  Allow: 'Methods that the path supports.',
} as const
type HeaderName = keyof typeof HEADERS

const RATE_LIMIT: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** Responses of an operation, by HTTP status. */
export function describeAnswers(operation: Operation, names: Names): Record<string, JsonSchema> {
  const statuses = Map.groupBy(codesOf(operation), (code) => ERRORS[code].status)
  return {
    ...Object.fromEntries(
      Object.keys(operation.answers).map((status) => [
        status,
        withPage(describeSuccess(Number(status), operation, names), Number(status), operation),
      ]),
    ),
    ...Object.fromEntries(
      [...statuses].map(([status, codes]) => [
        status,
        withPage(describeErrors(status, codes, operation), status, operation),
      ]),
    ),
  }
}

function withPage(answer: JsonSchema, status: number, { pages = [] }: Operation): JsonSchema {
  if (!pages.includes(status)) return answer
  return { ...answer, content: { ...(answer.content as JsonSchema), 'text/html': { schema: { type: 'string' } } } }
}

/** Errors for missing or wrong credentials. */
const CREDENTIAL_CODES: Readonly<Record<Access, readonly ErrorCode[]>> = {
  key: ['MISSING_API_KEY', 'INVALID_API_KEY', 'FORBIDDEN', 'RATE_LIMITED'],
  shop: ['PROXY_SIGNATURE_INVALID'],
  events: ['MISSING_API_KEY', 'INVALID_API_KEY', 'PROXY_SIGNATURE_INVALID'],
  open: [],
}

/** Error codes of an operation, in the order of the list of codes. */
export function codesOf({ access = 'key', parameters, repeatable, errors }: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(['METHOD_NOT_ALLOWED', 'HEADERS_TOO_LARGE', 'INTERNAL_ERROR', ...errors])
  const add = (condition: unknown, ...more: ErrorCode[]) => {
    if (condition) for (const code of more) codes.add(code)
  }
  add(true, ...CREDENTIAL_CODES[access])
  add(access !== 'open', 'SERVICE_UNAVAILABLE')
  add(parameters, 'ROUTE_NOT_FOUND')
  add(repeatable, 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED')
  return ERROR_CODES.filter((code) => codes.has(code))
}

function describeSuccess(status: number, operation: Operation, names: Names): JsonSchema {
  const { id, access = 'key', body, repeatable } = operation
  const { description, schema, contentType = 'application/json', next = {} }: Success = operation.answers[status]
  const examples = asExamples(OPERATION_EXAMPLES[id]?.answers?.[status])
  const headers: HeaderName[] = [
    ...(access === 'key' ? RATE_LIMIT : []),
    ...(repeatable ? ['Idempotent-Replay' as const] : []),
    ...(body && 'legacy' in body ? ['Deprecation' as const] : []),
  ]
  return {
    description,
    headers: refsTo(headers),
    ...(schema && { content: { [contentType]: { schema: describeOrRefer(schema, names), ...examples } } }),
    links: Object.fromEntries(
      Object.entries(next).map(([operationId, parameters]) => [operationId, { operationId, parameters }]),
    ),
  }
}

function asExamples(values: Readonly<Record<string, unknown>> | undefined): { examples?: JsonSchema } {
  if (values === undefined) return {}
  return { examples: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])) }
}

/** Example response for an error code, as a component of the document. */
export function describeErrorExample(code: ErrorCode): JsonSchema {
  return {
    summary: code,
    description: ERRORS[code].cure,
    value: { code, status: ERRORS[code].status, ...ERRORS[code].example },
  }
}

/** Statuses that are returned before the rate limit is counted. */
const UNCOUNTED = [401, 405, 431]

function describeErrors(status: number, codes: readonly ErrorCode[], operation: Operation): JsonSchema {
  const counted = isBehindKey(operation) && !UNCOUNTED.includes(status)
  const retried = [409, 429, 503].includes(status)
  const headers: HeaderName[] = [
    ...(counted ? RATE_LIMIT : []),
    ...(retried ? ['Retry-After' as const] : []),
    ...(status === 405 ? ['Allow' as const] : []),
  ]
  return {
    description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].condition}`).join('\n'),
    headers: refsTo(headers),
    content: {
      'application/json': {
        schema: {
          allOf: [refTo('Error')],
          properties: { code: { type: 'string', enum: codes }, status: { const: status } },
        },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

function refsTo(headers: readonly HeaderName[]): JsonSchema {
  const all: readonly HeaderName[] = ['X-Request-Id', ...headers]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
