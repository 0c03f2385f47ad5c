import type { ErrorCode } from './error-codes.ts'

export type { ErrorCode } from './error-codes.ts'

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
