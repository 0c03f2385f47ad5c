/** Why a step of a try-on did not work. */
export class Failure extends Error {
  /** Of the service, or `NETWORK` when it was not reached and `UNEXPECTED` when its answer is none of its own. */
  readonly code: string
  readonly status: number
  /** After which it makes sense to try again; null when nothing was said. */
  readonly retrySeconds: number | null
  /** Of the limit that is used up: `day` or `week`; null for one of some minutes. */
  readonly period: string | null

  constructor(
    code: string,
    {
      status = 0,
      retrySeconds = null,
      period = null,
    }: { status?: number; retrySeconds?: number | null; period?: string | null } = {},
  ) {
    super(code)
    this.code = code
    this.status = status
    this.retrySeconds = retrySeconds
    this.period = period
  }
}

/** What a thrown value means to a shopper. */
export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('UNEXPECTED')
}

/** What helps: the same once more, another photo, another look at what to agree to, or nothing that a shopper can do now. */
export type Remedy = 'again' | 'photo' | 'consent' | 'none'

const PHOTO = [
  ...['NO_PERSON_DETECTED', 'INVALID_IMAGE', 'UNSUPPORTED_IMAGE_TYPE', 'FILE_TOO_LARGE'],
  ...['IMAGE_NOT_FOUND', 'CUSTOMER_IMAGE_REQUIRED', 'VALIDATION_FAILED'],
]
const NONE = [
  ...['QUOTA_EXCEEDED', 'BILLING_NOT_ALLOWED', 'PRODUCT_NOT_FOUND', 'PRODUCT_IMAGE_FETCH_FAILED'],
  ...['MISSING_REQUIRED_CLASSIFICATION', 'PROXY_SIGNATURE_INVALID'],
]

export function remedyFor(failure: Failure): Remedy {
  if (failure.code.startsWith('CONSENT_')) return 'consent'
  if (PHOTO.includes(failure.code)) return 'photo'
  if (NONE.includes(failure.code) || failure.period !== null) return 'none'
  return 'again'
}

/** Runs what must never disturb the page that the widget is a guest of. */
export function quietly<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    console.warn('drape-try-on:', error)
    return undefined
  }
}
