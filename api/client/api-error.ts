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
  readonly PROXY_SIGNATURE_INVALID: readonly (FieldProblem & { readonly check: string; readonly serverTime: string })[]
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

/** `VALIDATION_FAILED`, as the service would answer. */
export function invalidField(path: string, message: string): DrapeApiError {
  return new DrapeApiError(`${path} ${message}.`, {
    code: 'VALIDATION_FAILED',
    status: 400,
    details: [{ path, message }],
  })
}

/** @throws DrapeApiError `UNEXPECTED_ANSWER` that names the target without its query, which may contain a signature */
export async function assertNotRedirected({ type, status, headers, url, body }: Response): Promise<void> {
  const location = headers.get('location')
  // Browsers hide status and target.
  const isHidden = type === 'opaqueredirect'
  if (!isHidden && (location === null || status < 300 || status > 399)) return
  await body?.cancel()
  const base = url || undefined
  const { origin, pathname } = location !== null && URL.canParse(location, base) ? new URL(location, base) : HIDDEN
  throw new DrapeApiError(
    `The request was redirected to ${origin}${pathname}, which received neither the key nor data. Set url to the address of the service.`,
    { code: 'UNEXPECTED_ANSWER', status },
  )
}

const HIDDEN = { origin: 'another address', pathname: '' }

/** Parses an error response. */
export function readError(response: Response, text: string): DrapeApiError {
  const body = (parseObject(text) ?? {}) as Partial<ErrorBody> & { success?: unknown }
  // The events endpoint reports an exceeded budget like its other failures: `{ success: false, message }`.
  const isBudget = response.status === 429 && body.success === false
  const { code = isBudget ? 'RATE_LIMIT_EXCEEDED' : undefined, message, details } = body
  if (typeof code !== 'string' || typeof message !== 'string') return unexpected(response, 'is not from the service')
  return new DrapeApiError(message, { code, details, ...contextOf(response) })
}

/** The error of a response whose body cannot be read. */
export function damagedResponse(response: Response, reason: string): DrapeApiError {
  return unexpected(response, `is damaged or incomplete: ${reason}`)
}

function unexpected(response: Response, problem: string): DrapeApiError {
  return new DrapeApiError(`The response (${response.status}) ${problem}.`, {
    code: 'UNEXPECTED_ANSWER',
    ...contextOf(response),
  })
}

function contextOf({ status, headers }: Response) {
  return { status, requestId: headers.get('x-request-id'), retryAfter: readRetryAfter(headers.get('retry-after')) }
}

/** Null for text that is not a JSON object. */
export function parseObject(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' ? body : null
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
