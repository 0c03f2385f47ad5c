import { isObject } from '../../bodies/json-object.ts'
import { DrapeError } from '../../shared/errors.ts'

/**
 * Mistakes in the body of a product that have their own code, found before the body is checked against its schema. Looks
 * only at what it can see; anything malformed is left to the schema.
 */
export function assertUsableProduct(body: unknown): void {
  if (!isObject(body)) throw noObject()
  const { externalId, images } = body
  if (externalId === undefined || externalId === null || externalId === '') {
    throw new DrapeError('EXTERNAL_ID_REQUIRED', 'Send the id of the product in externalId.')
  }
  if (isReserved(externalId)) throw reserved()
  if (Array.isArray(images)) assertUsableImages(images)
}

/** No image at all is `PRODUCT_IMAGES_REQUIRED`; an entry with neither `url` nor `fileKey` is `INVALID_IMAGE_INPUT`. */
export function assertUsableImages(images: readonly unknown[]): void {
  if (images.length === 0) throw imagesRequired()
  for (const [i, image] of images.entries()) {
    const source = isObject(image) ? image.source : undefined
    const named = isObject(source) && (source.url != null || source.fileKey != null)
    if (!named) throw new DrapeError('INVALID_IMAGE_INPUT', `Image ${i} has neither url nor fileKey.`)
  }
}

/** Ids that only the server gives. */
export function isReserved(externalId: unknown): boolean {
  return typeof externalId === 'string' && externalId.startsWith('_anon_')
}

export function reserved(): DrapeError {
  return new DrapeError('RESERVED_EXTERNAL_ID', 'Ids that start with _anon_ are reserved.')
}

export function imagesRequired(): DrapeError {
  return new DrapeError('PRODUCT_IMAGES_REQUIRED', 'A new product needs at least one image.')
}

export function noObject(): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
    details: [
      { path: '', message: 'must be a JSON object: as application/json, or in the field data of a multipart body' },
    ],
  })
}
