import { isObject } from '../http/json-object.ts'
import type { Translated } from '../http/route-body.ts'
import {
  assertUsableImages,
  bodyNotAnObject,
  imagesRequired,
  isReserved,
  reserved,
} from '../products/products.refusals.ts'
import { ProductBody } from '../products/products.schema.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { formatPath } from '../shared/contract/schema.ts'
import { MAX_LAYERS } from '../shared/generations/generation.ts'

/**
 * Checks a try-on body for errors with their own code, before the schema is checked. Ignores malformed parts, which the
 * schema rejects.
 */
export function assertParts({ body, written }: Translated): void {
  if (!isObject(body)) throw bodyNotAnObject()
  // With a wrong number of products, none is checked: the intended one is unknown.
  const [product] = Array.isArray(body.products) && body.products.length === 1 ? body.products : []
  if (isObject(product)) refuseProduct(product, 0, written)
  assertPerson(body)
}

/** As `assertParts`, for the products of an outfit. */
export function assertOutfitParts({ body, written }: Translated): void {
  if (!isObject(body)) throw bodyNotAnObject()
  const products = Array.isArray(body.products) && body.products.length <= MAX_LAYERS ? body.products : []
  for (const [i, product] of products.entries()) if (isObject(product)) refuseProduct(product, i, written)
  assertPerson(body)
}

function assertPerson({ person }: Record<string, unknown>): void {
  if (person === undefined || person === null) {
    throw new DrapeError('CUSTOMER_IMAGE_REQUIRED', 'Send the photo of the person in person.image.source.', {
      details: [{ path: 'person.image', message: 'is required' }],
    })
  }
}

function refuseProduct(product: Record<string, unknown>, index: number, written: Translated['written']): void {
  const { externalId, images } = product
  if (isReserved(externalId) && !isReference(product)) throw reserved()
  const at = ['products', String(index), 'images']
  if (externalId == null && images == null) throw imagesRequired(formatPath(written(at)))
  if (Array.isArray(images)) assertUsableImages(images, { at, written })
}

/** A reserved ID may be sent as a bare reference; with other fields it would name a product of the caller. */
function isReference(product: Record<string, unknown>): boolean {
  const { externalId, ...fields } = ProductBody.properties
  return Object.keys(fields).every((name) => product[name] == null)
}
