/** Codes of failed generations that no request gets. */
const GENERATION_CODES = [
  'GENERATION_FAILED',
  'GENERATION_TIMEOUT',
  'GENERATION_CANCELLED',
  'NO_PERSON_DETECTED',
  'RESULT_REJECTED',
  'NUDITY_DETECTED',
  'EXPOSURE_NOT_ALLOWED',
  'SEVERAL_PEOPLE',
  'AGE_REVIEW',
  'IMAGE_LISTED',
  'SAFETY_UNAVAILABLE',
] as const

/** All public error codes. The API maps each to one HTTP status (`api/http/middleware/errors.ts`). */
export const ERROR_CODES = [
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'VALIDATION_FAILED',
  'EXTERNAL_ID_REQUIRED',
  'PRODUCT_IMAGES_REQUIRED',
  'CUSTOMER_IMAGE_REQUIRED',
  'FILE_REQUIRED',
  'MULTIPART_FILE_NOT_FOUND',
  'INVALID_IMAGE_INPUT',
  'INVALID_IMAGE',
  'UNSUPPORTED_IMAGE_TYPE',
  'CUSTOMER_IMAGE_FETCH_FAILED',
  'PRODUCT_IMAGE_FETCH_FAILED',
  'MISSING_REQUIRED_CLASSIFICATION',
  'FILE_TOO_LARGE',
  'INSUFFICIENT_CREDITS',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'PRODUCT_NOT_FOUND',
  'GENERATION_NOT_FOUND',
  'ACCOUNT_NOT_FOUND',
  'BATCH_NOT_FOUND',
  'EVENT_NOT_FOUND',
  'ERASURE_NOT_FOUND',
  'LISTENER_NOT_FOUND',
  'APPEAL_NOT_FOUND',
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'HEADERS_TOO_LARGE',
  'RESERVED_EXTERNAL_ID',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
  ...GENERATION_CODES,
  // Storefront API.
  'PROXY_SIGNATURE_INVALID',
  'WEBHOOK_SIGNATURE_INVALID',
  'BILLING_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'GENERATION_NOT_COMPLETED',
  'SHARE_LINK_NOT_FOUND',
  'SHARE_LINK_GONE',
  'IMAGE_NOT_FOUND',
  'UPLOAD_NOT_FOUND',
  'CAPTCHA_REQUIRED',
  'VISITOR_TOKEN_REQUIRED',
  'CONSENT_REQUIRED',
  'CONSENT_OUTDATED',
  'CONSENT_POLICY_UNKNOWN',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * Codes of generations that failed because of the service, not of the images or the caller. The statistics, objectives and alerts
 * count only these as failures.
 */
export const SERVICE_FAILURE_CODES: readonly ErrorCode[] = [
  'GENERATION_FAILED',
  'GENERATION_TIMEOUT',
  'SAFETY_UNAVAILABLE',
]

/** Codes with which a generation can fail after the API accepted it. */
export const FAILURE_CODES: readonly ErrorCode[] = [
  ...GENERATION_CODES,
  'INVALID_IMAGE',
  'UNSUPPORTED_IMAGE_TYPE',
  'FILE_TOO_LARGE',
  'PRODUCT_IMAGE_FETCH_FAILED',
  'MISSING_REQUIRED_CLASSIFICATION',
]

export interface FieldProblem {
  readonly path: string
  readonly message: string
}

export const TRY_ON_IMAGES = ['person', 'product'] as const
export type TryOnImage = (typeof TRY_ON_IMAGES)[number]

/** Checks of the safety policy whose refusals can be appealed. */
export const SAFETY_CHECKS = [
  'nudity',
  'exposure',
  'people',
  'age',
  'blocked',
  'list',
  'result-nudity',
  'result-skin',
] as const
export type SafetyCheck = (typeof SAFETY_CHECKS)[number]

/** Codes of failed generations that a check of the safety policy can have refused. */
export const APPEALABLE_CODES: readonly ErrorCode[] = [
  ...(['NUDITY_DETECTED', 'EXPOSURE_NOT_ALLOWED', 'SEVERAL_PEOPLE', 'AGE_REVIEW'] as const),
  ...(['IMAGE_LISTED', 'RESULT_REJECTED'] as const),
]

/** A check that an operator has allowed for a pair of images. */
export interface SafetyAllowance {
  readonly check: SafetyCheck
  /** Null: the result. */
  readonly image: TryOnImage | null
}

/** A problem, and values of it for programs. */
type ErrorDetail = FieldProblem & Readonly<Record<string, string | number>>

export type ErrorDetails =
  | readonly (FieldProblem | ErrorDetail)[]
  | { readonly key: string }
  | Readonly<Record<string, string | number>>

/**
 * The error class of Drape. `code` is stable and determines the handling; `message` is shown to callers. `retryable`:
 * the same work may succeed later without a change.
 */
export class DrapeError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails | undefined
  readonly retryable: boolean
  /** Value of the header `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number | undefined
  /** The image that caused the error, when its request field is not known. */
  readonly image: TryOnImage | undefined
  /** The safety check that refused. */
  readonly check: SafetyCheck | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: ErrorDetails
      retryable?: boolean
      retryAfterSeconds?: number
      image?: TryOnImage
      check?: SafetyCheck
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'DrapeError'
    this.code = code
    this.details = options.details
    this.retryable = options.retryable ?? false
    this.retryAfterSeconds = options.retryAfterSeconds
    this.image = options.image
    this.check = options.check
  }
}

/** `VALIDATION_FAILED` for the form of a field; the message continues the name of the field: "must be a number". */
export function invalidField(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [{ path, message }] })
}

/** `VALIDATION_FAILED` for a value that the stored data refuses; the message is a sentence. */
export function refusedValue(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', message, { details: [{ path, message }] })
}
