import type { ErrorBody } from './schemas.ts'

/** Error codes of the service. `UNEXPECTED_ANSWER`: the response is not from the service, but e.g. from a proxy. */
export type ErrorCode = ErrorBody['code'] | 'UNEXPECTED_ANSWER'

type ImageErrorCode =
  | 'CUSTOMER_IMAGE_FETCH_FAILED'
  | 'CUSTOMER_IMAGE_REQUIRED'
  | 'FILE_REQUIRED'
  | 'FILE_TOO_LARGE'
  | 'INVALID_IMAGE'
  | 'INVALID_IMAGE_INPUT'
  | 'MULTIPART_FILE_NOT_FOUND'
  | 'PRODUCT_IMAGES_REQUIRED'
  | 'UNSUPPORTED_IMAGE_TYPE'

/** An invalid field of a request. */
export interface FieldProblem {
  readonly path: string
  readonly message: string
}

/** Type of `details` by code; absent for other codes. Image errors name the image, e.g. `products[0].images[1]`. */
interface DetailsByCode extends Record<ImageErrorCode, readonly FieldProblem[] | undefined> {
  readonly VALIDATION_FAILED: readonly FieldProblem[]
  readonly PROXY_SIGNATURE_INVALID: { readonly check: string; readonly serverTime: string }
  readonly MISSING_REQUIRED_CLASSIFICATION: { readonly key: string }
}

/** Error response of the service. Branch on `code`. */
export class DrapeApiError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'DrapeApiError'
  readonly code: C
  /** The HTTP status. */
  readonly status: number
  readonly details: C extends keyof DetailsByCode ? DetailsByCode[C] : ErrorBody['details']
  /** ID of the request in the service's logs. */
  readonly requestId: string | null
  /** Seconds after which to retry, as the service requests. */
  readonly retryAfter: number | null

  constructor(
    message: string,
    answer: { code: C; status: number; details?: unknown; requestId?: string | null; retryAfter?: number | null },
  ) {
    super(message)
    this.code = answer.code
    this.status = answer.status
    this.details = answer.details as typeof this.details
    this.requestId = answer.requestId ?? null
    this.retryAfter = answer.retryAfter ?? null
  }
}

/** Whether this is an error of the service, and with the given code; narrows the type of `details`. */
export function isApiError<C extends ErrorCode = ErrorCode>(error: unknown, code?: C): error is DrapeApiError<C> {
  return error instanceof DrapeApiError && (code === undefined || error.code === code)
}

/** No response: no network, an unknown host name, an aborted connection, or a page without permission (CORS). */
export class DrapeConnectionError extends Error {
  override readonly name = 'DrapeConnectionError'
}

/** No complete response within the time limit. */
export class DrapeTimeoutError extends Error {
  override readonly name = 'DrapeTimeoutError'
}

/** Parses an error response. */
export function readError({ status, headers }: Response, text: string): DrapeApiError {
  const retryAfter = readRetryAfter(headers.get('retry-after'))
  const requestId = headers.get('x-request-id')
  const body = parseBody(text, status)
  return body
    ? new DrapeApiError(body.message, { code: body.code, status, details: body.details, requestId, retryAfter })
    : new DrapeApiError(`The response (${status}) is not from the service.`, {
        ...{ code: 'UNEXPECTED_ANSWER', status, requestId, retryAfter },
      })
}

function parseBody(text: string, status: number): ErrorBody | null {
  try {
    const body = JSON.parse(text) as (Partial<ErrorBody> & { success?: unknown }) | null
    // The events endpoint reports an exceeded budget like its other failures: `{ success: false, message }`.
    if (status === 429 && body?.success === false) Object.assign(body, { code: 'RATE_LIMIT_EXCEEDED' })
    return typeof body?.code === 'string' && typeof body.message === 'string' ? (body as ErrorBody) : null
  } catch {
    return null
  }
}

/** Seconds; the header contains a number or an HTTP date. */
function readRetryAfter(header: string | null): number | null {
  if (header === null || header.trim() === '') return null
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000)
}
