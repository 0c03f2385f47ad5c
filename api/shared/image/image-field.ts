import { DrapeError, type ErrorCode, type FieldProblem, type TryOnImage } from '../contract/errors.ts'

/** Codes of errors that one image causes. */
const IMAGE_CODES: readonly ErrorCode[] = [
  'CUSTOMER_IMAGE_FETCH_FAILED',
  'FILE_TOO_LARGE',
  'INVALID_IMAGE',
  'INVALID_IMAGE_INPUT',
  'MULTIPART_FILE_NOT_FOUND',
  'NO_PERSON_DETECTED',
  'PRODUCT_IMAGE_FETCH_FAILED',
  'UNSUPPORTED_IMAGE_TYPE',
]

/**
 * Resolves to the result of work on one image. Adds the request's `field` to the `details` of an error that the image
 * caused.
 */
export async function inField<T>(field: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw withField(error, field)
  }
}

function withField(error: unknown, field: string): unknown {
  if (!(error instanceof DrapeError) || error.details !== undefined || !IMAGE_CODES.includes(error.code)) return error
  const { code, message, retryable, retryAfterSeconds } = error
  return new DrapeError(code, message, {
    details: [{ path: field, message }],
    retryable,
    retryAfterSeconds,
    cause: error,
  })
}

/** Like `inField`, for an image of the try-on: attributes an error to it. */
export async function ofImage<T>(image: TryOnImage, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DrapeError) || error.retryable || error.image !== undefined) throw error
    const { code, message, details } = error
    throw new DrapeError(code, message, { details, image, cause: error })
  }
}

/** The fields of a try-on call that caused its failure. `used`: indexes of the product and of its image in use. */
export function failedFields(
  { code, message, details, image }: DrapeError,
  used: { readonly product: number; readonly image: number | null } = { product: 0, image: null },
): FieldProblem[] {
  if (Array.isArray(details)) return [...details]
  const about =
    image ?? (code === 'NO_PERSON_DETECTED' ? 'person' : code === 'MISSING_REQUIRED_CLASSIFICATION' ? 'product' : null)
  if (about === null) return []
  const path =
    about === 'person'
      ? 'person.image'
      : `products[${used.product}].images${used.image === null ? '' : `[${used.image}]`}`
  return [{ path, message }]
}
