import { DrapeError } from '../../shared/errors.ts'
import { shopperId, shopperIds } from '../../shoppers/shopper.ts'
import type { AppContext } from '../../state.ts'
import type { AccountRecord } from '../../stores/accounts.ts'
import type { ShopRecord } from '../../stores/shops.ts'

export interface Requester {
  readonly shop: ShopRecord
  readonly account: AccountRecord
  readonly shopperId: string
  /** Owners whose photos and results the shopper may use. */
  readonly ownerIds: readonly string[]
}

/**
 * The shopper of a request, as signed by the shop's proxy. Throws `PROXY_SIGNATURE_INVALID` on a route without a proxy
 * guard.
 */
export function requesterOf({ state: { shop, account, shopper } }: AppContext): Requester {
  if (shop === null) {
    throw new DrapeError('PROXY_SIGNATURE_INVALID', 'The request is not signed by the proxy of a shop.')
  }
  return { shop, account, shopperId: shopperId(shop.id, shopper), ownerIds: shopperIds(shop.id, shopper) }
}
