import { networkOf } from '../shared/addresses.ts'
import { hashText, type SigningSecret } from '../shared/signing.ts'

/** A visitor of a shop, identified by the strongest known identity. */
export interface Shopper {
  /** The platform's ID of a customer who is logged in; only from parameters that a proxy has signed. */
  readonly customerId: string | null
  /** The widget's ID of this browser: `anon_…`. */
  readonly anonymousId: string | null
  /** ID in a visitor token that the service signed; null without a valid token. */
  readonly visitorId: string | null
  /** Network address. */
  readonly address: string
  /** Whether `address` belongs to the shop's server, which does not forward its shoppers' addresses. */
  readonly isAddressShared: boolean
  /** Keyed hash, because an address is personal data. */
  readonly addressHash: string
}

/**
 * ID under which limits count a shopper and images are stored, by precedence: customer, visitor, browser, address.
 * Starts with the shop's ID, so that the shoppers of different shops are separate. Equals their `externalUserId`.
 */
export function shopperId(shopId: string, { customerId, visitorId, anonymousId, addressHash }: Shopper): string {
  if (customerId !== null) return customerShopperId(shopId, customerId)
  if (visitorId !== null) return `${shopId}:visitor:${visitorId}`
  return anonymousId !== null ? `${shopId}:browser:${anonymousId}` : addressShopperId(shopId, addressHash)
}

/**
 * All IDs under which photos of this shopper may be stored: the customer, and the browser from before the customer
 * signed in.
 */
export function shopperIds(shopId: string, shopper: Shopper): string[] {
  const { customerId, visitorId, anonymousId, addressHash } = shopper
  return [
    ...(customerId === null ? [] : [customerShopperId(shopId, customerId)]),
    ...(visitorId === null ? [] : [`${shopId}:visitor:${visitorId}`]),
    ...(anonymousId === null ? [] : [`${shopId}:browser:${anonymousId}`]),
    ...(isNamed(shopper) ? [] : [addressShopperId(shopId, addressHash)]),
  ]
}

/** Whether more than a network address is known of the shopper. */
export function isNamed({ customerId, visitorId, anonymousId }: Shopper): boolean {
  return customerId !== null || visitorId !== null || anonymousId !== null
}

/** `shopperId` of a shopper of whom only the network address is known. */
export function addressShopperId(shopId: string, addressHash: string): string {
  return `${shopId}:address:${addressHash}`
}

/** `shopperId` of a customer with a known ID alone. */
export function customerShopperId(shopId: string, customerId: string): string {
  return `${shopId}:customer:${customerId}`
}

/** Whether an `externalUserId` names a shopper of this shop. */
export function isShopperOf(shopId: string, externalUserId: string | null): boolean {
  return externalUserId?.startsWith(`${shopId}:`) ?? false
}

/**
 * Keyed hash of an IPv4 address, or of the /64 network of an IPv6 address. Only the owner of the secret can find the
 * address.
 */
export function hashAddress(address: string, secret: SigningSecret): string {
  return hashText(secret, `address:${networkOf(address)}`).slice(0, 22)
}
