import { isObject } from '../../json-object.ts'
import { DrapeError } from '../../shared/errors.ts'
import { imagesRequired, isReserved, noObject, refuseUnusableImages, reserved } from './products.refusals.ts'
import { ProductBody } from './products.schema.ts'

/**
 * Mistakes in a try-on body that have a code of their own, told before the body is held against its schema. Looks only at
 * what it can see; anything malformed is left to the schema.
 */
export function refuseMissingParts(body: unknown): void {
  if (!isObject(body)) throw noObject()
  // Of a wrong number of products none is the one that was meant.
  const [product] = Array.isArray(body.products) && body.products.length === 1 ? body.products : []
  if (isObject(product)) refuseProduct(product)
  if (body.person === undefined || body.person === null) {
    throw new DrapeError('CUSTOMER_IMAGE_REQUIRED', 'Send the photo of the person in person.image.source.')
  }
}

/**
 * Of a field that comes in two shapes the new one counts, but not of this: who is meant decides whose picture is made. `sent` is the body
 * as the caller wrote it.
 */
export function refuseTwoPeople(sent: unknown): void {
  if (!isObject(sent) || sent.person == null || sent.customer == null) return
  const details = ['person', 'customer'].map((path) => ({ path, message: 'send either person or customer' }))
  throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details })
}

/** The ids that the server gives. */
const SERVER_MADE = /^_anon_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function refuseProduct(product: Record<string, unknown>): void {
  const { externalId, images } = product
  if (isReserved(externalId) && !isServerMadeReference(product)) throw reserved()
  if (externalId === undefined && images === undefined) throw imagesRequired()
  if (Array.isArray(images)) refuseUnusableImages(images)
}

/** A server-made id may come back as a bare reference; with anything beside it, it would name a product of the caller's. */
function isServerMadeReference(product: Record<string, unknown>): boolean {
  const { externalId, ...fields } = ProductBody.properties
  return (
    SERVER_MADE.test(String(product.externalId)) && Object.keys(fields).every((name) => product[name] === undefined)
  )
}
