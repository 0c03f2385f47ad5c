import { createHmac } from 'node:crypto'

/** Whoever stands in the shop, told by the best that is known of them. */
export interface Shopper {
  /** The shop platform's id of a customer who is logged in; only ever from what a proxy has signed. */
  readonly customerId: string | null
  /** What the widget calls this browser: `anon_…`. */
  readonly anonymousId: string | null
  /** A keyed hash, since an address alone is personal data. */
  readonly addressHash: string
}

/**
 * The name under which limits count a shopper and images are kept: customer before browser before address. It starts with the
 * shop's id, so that what one shop's shoppers gave can be told from another's, and it is the `externalUserId` of all of it.
 */
export function shopperId(shopId: string, { customerId, anonymousId, addressHash }: Shopper): string {
  if (customerId !== null) return customerShopperId(shopId, customerId)
  return anonymousId !== null ? `${shopId}:browser:${anonymousId}` : `${shopId}:address:${addressHash}`
}

/** The same for a customer of whom only the id is known. */
export function customerShopperId(shopId: string, customerId: string): string {
  return `${shopId}:customer:${customerId}`
}

/** Whether an `externalUserId` names a shopper of this shop. */
export function isShopperOf(shopId: string, externalUserId: string | null): boolean {
  return externalUserId?.startsWith(`${shopId}:`) ?? false
}

/** What stands for an address: the same text for the same address, from which nobody without the secret can find it. */
export function hashAddress(address: string, secret: string): string {
  return createHmac('sha256', secret).update(`address:${address}`).digest('base64url').slice(0, 22)
}
