/** Failure of a step of a try-on. */
export class Failure extends Error {
  /**
   * Error code of the service; `NETWORK` when it is unreachable, `UNEXPECTED` when the response is not from the
   * service.
   */
  readonly code: string
  readonly status: number
  /** Seconds after which to retry; null when unknown. */
  readonly retrySeconds: number | null
  /** Page on which the shopper can ask for a review of a refusal; null without one. */
  readonly appealUrl: string | null
  /** Period of the exhausted limit: `day` or `week`; null for a limit of minutes. */
  readonly period: string | null

  constructor(
    code: string,
    {
      status = 0,
      retrySeconds = null,
      period = null,
      appealUrl = null,
    }: { status?: number; retrySeconds?: number | null; period?: string | null; appealUrl?: string | null } = {},
  ) {
    super(code)
    this.code = code
    this.status = status
    this.retrySeconds = retrySeconds
    this.period = period
    this.appealUrl = appealUrl
  }
}

/** Converts a thrown value into a `Failure`. */
export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('UNEXPECTED')
}

/** What the shopper can do: retry, use another photo, read the policy again, continue without the camera, or nothing. */
export type Remedy = 'again' | 'photo' | 'consent' | 'camera' | 'none'

const PHOTO = [
  ...['NO_PERSON_DETECTED', 'INVALID_IMAGE', 'IMAGE_TOO_SMALL', 'UNSUPPORTED_IMAGE_TYPE', 'FILE_TOO_LARGE'],
  ...['IMAGE_NOT_FOUND', 'CUSTOMER_IMAGE_REQUIRED', 'VALIDATION_FAILED'],
  ...['NUDITY_DETECTED', 'EXPOSURE_NOT_ALLOWED', 'SEVERAL_PEOPLE', 'AGE_REVIEW', 'IMAGE_LISTED'],
]
const NONE = [
  ...['QUOTA_EXCEEDED', 'BILLING_NOT_ALLOWED', 'PRODUCT_NOT_FOUND', 'PRODUCT_IMAGE_FETCH_FAILED'],
  ...['MISSING_REQUIRED_CLASSIFICATION', 'PROXY_SIGNATURE_INVALID'],
]

export function remedyFor(failure: Failure): Remedy {
  if (failure.code.startsWith('CONSENT_')) return 'consent'
  if (failure.code.startsWith('CAMERA_')) return 'camera'
  if (PHOTO.includes(failure.code)) return 'photo'
  if (NONE.includes(failure.code) || failure.period !== null) return 'none'
  return 'again'
}

/** Runs code whose errors must never disturb the host page. */
export function quietly<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    console.warn('drape-try-on:', error)
    return undefined
  }
}
