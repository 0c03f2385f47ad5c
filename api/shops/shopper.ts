import { networkOf } from '../shared/network/addresses.ts'
import { composeShopperId, type ShopperKind, type ShopperName } from '../shared/shopper-id.ts'
import { hashText, type SigningSecret } from '../shared/signing/signing.ts'

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
  /** Whether `address` belongs to the shop's server, which does not forward its shoppers' addresses: it identifies no shopper. */
  readonly isAddressShared: boolean
  /** Keyed hash, because an address is personal data. */
  readonly addressHash: string
}

/**
 * ID under which limits count a shopper and images are stored, by precedence: customer, visitor, browser, address.
 * Starts with the shop's ID, so that the shoppers of different shops are separate. Equals their `externalUserId`.
 */
export function shopperId(shopId: string, shopper: Shopper): string {
  const [strongest = { shopId, kind: 'address', value: shopper.addressHash }] = namesOf(shopId, shopper)
  return composeShopperId(strongest)
}

/**
 * The IDs that identify the shopper as the owner of rows: of the customer, the visitor and the browser, because a customer
 * signs in after the first photo; without any of them the network address, unless other shoppers share it. May be empty.
 */
export function shopperIds(shopId: string, shopper: Shopper): string[] {
  if (!isNamed(shopper) && !shopper.isAddressShared) return [shopperId(shopId, shopper)]
  return namesOf(shopId, shopper).map(composeShopperId)
}

/**
 * ID of the shopper that a request without a name from the same network address would have. Null for customers and visitors with a token,
 * who have proof of who they are, and for an address that shoppers share.
 */
export function addressShopperId(shopId: string, shopper: Shopper): string | null {
  const { customerId, visitorId, addressHash, isAddressShared } = shopper
  if (customerId !== null || visitorId !== null || isAddressShared) return null
  return composeShopperId({ shopId, kind: 'address', value: addressHash })
}

/** Whether more than a network address is known of the shopper. */
export function isNamed({ customerId, visitorId, anonymousId }: Shopper): boolean {
  return customerId !== null || visitorId !== null || anonymousId !== null
}

/** `shopperId` of a customer with a known ID alone. */
export function customerShopperId(shopId: string, customerId: string): string {
  return composeShopperId({ shopId, kind: 'customer', value: customerId })
}

function namesOf(shopId: string, { customerId, visitorId, anonymousId }: Shopper): ShopperName[] {
  const names: readonly [ShopperKind, string | null][] = [
    ['customer', customerId],
    ['visitor', visitorId],
    ['browser', anonymousId],
  ]
  return names.flatMap(([kind, value]) => (value === null ? [] : [{ shopId, kind, value }]))
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
