import { DrapeError } from '../../shared/errors.ts'

/**
 * Mistakes in a try-on body that have a code of their own, told before the body is held against its schema. Looks only at
 * what it can see; anything malformed is left to the schema.
 */
export function refuseMissingParts(body: unknown): void {
  if (!isObject(body)) throw invalidBody()
  const product = Array.isArray(body.products) ? body.products[0] : undefined
  if (isObject(product)) refuseProduct(product)
  if (body.person === undefined || body.person === null) {
    throw new DrapeError('CUSTOMER_IMAGE_REQUIRED', 'Send the photo of the person in person.image.source.')
  }
}

function refuseProduct(product: Record<string, unknown>): void {
  const { externalId, images } = product
  // A server-made id may come back as a bare reference; with anything beside it, it would name a product of the caller's.
  const isReference = Object.keys(product).every((name) => name === 'externalId')
  if (typeof externalId === 'string' && externalId.startsWith('_anon_') && !isReference) {
    throw new DrapeError('RESERVED_EXTERNAL_ID', 'Ids that start with _anon_ are reserved.')
  }
  if (externalId === undefined && images === undefined) throw imagesRequired()
  if (!Array.isArray(images)) return
  if (images.length === 0) throw imagesRequired()
  refuseEmptyImages(images)
}

/** An image entry with neither `url` nor `fileKey` is `INVALID_IMAGE_INPUT`. */
export function refuseEmptyImages(images: readonly unknown[]): void {
  for (const [i, image] of images.entries()) {
    const source = isObject(image) ? image.source : undefined
    const named = isObject(source) && (source.url !== undefined || source.fileKey !== undefined)
    if (!named) throw new DrapeError('INVALID_IMAGE_INPUT', `Image ${i} has neither url nor fileKey.`)
  }
}

function imagesRequired(): DrapeError {
  return new DrapeError('PRODUCT_IMAGES_REQUIRED', 'A new product needs at least one image.')
}

function invalidBody(): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
    details: [{ path: '', message: 'must be a JSON object (in multipart bodies the field data)' }],
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
