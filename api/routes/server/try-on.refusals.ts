import { isObject } from '../../json-object.ts'
import { DrapeError } from '../../shared/errors.ts'
import { formatPath } from '../../shared/schema.ts'
import type { Translated } from '../body.ts'
import { assertUsableImages, imagesRequired, isReserved, noObject, reserved } from './products.refusals.ts'
import { ProductBody } from './products.schema.ts'

/**
 * Mistakes in a try-on body that have their own code, found before the body is checked against its schema. Looks only at
 * what it can see; anything malformed is left to the schema.
 */
export function assertParts({ body, written }: Translated): void {
  if (!isObject(body)) throw noObject()
  // Of a wrong number of products none is the one that was meant.
  const [product] = Array.isArray(body.products) && body.products.length === 1 ? body.products : []
  if (isObject(product)) refuseProduct(product, written)
  if (body.person === undefined || body.person === null) {
    throw new DrapeError('CUSTOMER_IMAGE_REQUIRED', 'Send the photo of the person in person.image.source.', {
      details: [{ path: 'person.image', message: 'is required' }],
    })
  }
}

/** The ids that the server gives. */
const SERVER_MADE = /^_anon_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function refuseProduct(product: Record<string, unknown>, written: Translated['written']): void {
  const { externalId, images } = product
  if (isReserved(externalId) && !isServerMadeReference(product)) throw reserved()
  const at = ['products', '0', 'images']
  if (externalId == null && images == null) throw imagesRequired(formatPath(written(at)))
  if (Array.isArray(images)) assertUsableImages(images, { at, written })
}

/** A server-made id may come back as a bare reference; with anything beside it, it would name a product of the caller's. */
function isServerMadeReference(product: Record<string, unknown>): boolean {
  const { externalId, ...fields } = ProductBody.properties
  return SERVER_MADE.test(String(product.externalId)) && Object.keys(fields).every((name) => product[name] == null)
}
