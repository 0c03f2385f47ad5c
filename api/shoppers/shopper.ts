import { networkOf } from '../shared/addresses.ts'
import { hashText, type SigningSecret } from '../shared/signing.ts'

/** A visitor of the shop, identified by the strongest identity that is known. */
export interface Shopper {
  /** The shop platform's id of a customer who is logged in; only ever from what a proxy has signed. */
  readonly customerId: string | null
  /** What the widget calls this browser: `anon_…`. */
  readonly anonymousId: string | null
  /** Id in a visitor token that the service signed; null without a valid token. */
  readonly visitorId: string | null
  /** Network address. */
  readonly address: string
  /** Whether `address` belongs to the shop's server, which names no address of its shoppers. */
  readonly isAddressShared: boolean
  /** A keyed hash, since an address alone is personal data. */
  readonly addressHash: string
}

/**
 * The name under which limits count a shopper and images are kept: customer before visitor before browser before address. It starts with the
 * shop's id, so that data of one shop's shoppers is apart from another's, and it is the `externalUserId` of all of it.
 */
export function shopperId(shopId: string, { customerId, visitorId, anonymousId, addressHash }: Shopper): string {
  if (customerId !== null) return customerShopperId(shopId, customerId)
  if (visitorId !== null) return `${shopId}:visitor:${visitorId}`
  return anonymousId !== null ? `${shopId}:browser:${anonymousId}` : `${shopId}:address:${addressHash}`
}

/** Every name under which photos of this shopper may be kept: the customer, and the browser from before the customer signed in. */
export function shopperIds(shopId: string, shopper: Shopper): string[] {
  const { customerId, visitorId, anonymousId, addressHash } = shopper
  const isUnnamed = customerId === null && visitorId === null && anonymousId === null
  return [
    ...(customerId === null ? [] : [customerShopperId(shopId, customerId)]),
    ...(visitorId === null ? [] : [`${shopId}:visitor:${visitorId}`]),
    ...(anonymousId === null ? [] : [`${shopId}:browser:${anonymousId}`]),
    ...(isUnnamed ? [`${shopId}:address:${addressHash}`] : []),
  ]
}

/** The same for a customer of whom only the id is known. */
export function customerShopperId(shopId: string, customerId: string): string {
  return `${shopId}:customer:${customerId}`
}

/** Whether an `externalUserId` names a shopper of this shop. */
export function isShopperOf(shopId: string, externalUserId: string | null): boolean {
  return externalUserId?.startsWith(`${shopId}:`) ?? false
}

/** Stands for an address: the same text for the same IPv4 address or /64 network of IPv6 addresses, from which only an owner of the secret can find the address. */
export function hashAddress(address: string, secret: SigningSecret): string {
  return hashText(secret, `address:${networkOf(address)}`).slice(0, 22)
}
