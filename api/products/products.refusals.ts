import { isObject } from '../http/json-object.ts'
import type { Translated } from '../http/route-body.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { formatPath, type Path } from '../shared/contract/schema.ts'
import { imageField } from './legacy.routes.ts'

/**
 * Checks a product body for errors with their own code, before the schema is checked. Ignores malformed parts, which
 * the schema rejects.
 */
export function assertUsableProduct({ body, written }: Translated): void {
  if (!isObject(body)) throw bodyNotAnObject()
  const { externalId, images } = body
  if (externalId === undefined || externalId === null || externalId === '') {
    throw new DrapeError('EXTERNAL_ID_REQUIRED', 'Send the id of the product in externalId.')
  }
  if (isReserved(externalId)) throw reserved()
  if (Array.isArray(images)) assertUsableImages(images, { at: ['images'], written })
}

/**
 * Throws `PRODUCT_IMAGES_REQUIRED` without any image, `INVALID_IMAGE_INPUT` for an entry with neither `url` nor
 * `fileKey`.
 */
export function assertUsableImages(
  images: readonly unknown[],
  { at, written }: { at: Path; written: Translated['written'] },
): void {
  if (images.length === 0) throw emptyImages(formatPath(written(at)))
  for (const [i, image] of images.entries()) {
    const source = isObject(image) ? image.source : undefined
    const named = isObject(source) && (source.url != null || source.fileKey != null)
    if (!named) {
      const details = [{ path: imageField([...at, String(i)], written), message: 'has neither url nor fileKey' }]
      throw new DrapeError('INVALID_IMAGE_INPUT', `Image ${i} has neither url nor fileKey.`, { details })
    }
  }
}

/** IDs that only the server assigns. */
export function isReserved(externalId: unknown): boolean {
  return typeof externalId === 'string' && externalId.startsWith('_anon_')
}

export function reserved(): DrapeError {
  return new DrapeError('RESERVED_EXTERNAL_ID', 'Ids that start with _anon_ are reserved.')
}

/** Of a call that leaves the images out. `field`: the list of images in the request. */
export function imagesRequired(field: string): DrapeError {
  const details = [{ path: field, message: 'must have at least 1 item' }]
  return new DrapeError('PRODUCT_IMAGES_REQUIRED', 'A new product needs at least one image.', { details })
}

/** Of a call with an empty list, whether the product exists or not. */
function emptyImages(field: string): DrapeError {
  const message = `The list ${field} is empty. Send at least one image, or leave the list out to keep the images of an existing product.`
  const details = [{ path: field, message: 'must have at least 1 item' }]
  return new DrapeError('PRODUCT_IMAGES_REQUIRED', message, { details })
}

export function bodyNotAnObject(): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
    details: [
      { path: '', message: 'must be a JSON object: as application/json, or in the field data of a multipart body' },
    ],
  })
}
