import type { KeyLookup } from '../../authentication/key-lookup.ts'
import { assertScope } from '../../keys/restrictions.ts'
import { DrapeError } from '../../shared/errors.ts'
import { addressShopperId, shopperId, shopperIds } from '../../shoppers/shopper.ts'
import type { AppContext } from '../../state.ts'
import type { AccountRecord } from '../../stores/accounts.ts'
import type { ShopRecord } from '../../stores/shops.ts'

export interface Requester {
  readonly shop: ShopRecord
  readonly account: AccountRecord
  readonly shopperId: string
  /** The shopper, under all names that the request gives. */
  readonly ownerIds: readonly string[]
  /**
   * Owners whose photos and results the shopper may use: `ownerIds`, and the network address, because an earlier request of
   * the shopper may have had no name.
   */
  readonly usableIds: readonly string[]
}

/**
 * The shopper of a request, as signed by the shop's proxy. Throws `PROXY_SIGNATURE_INVALID` on a route without a proxy
 * guard.
 */
export function requesterOf({ state: { shop, account, shopper } }: AppContext): Requester {
  if (shop === null) {
    throw new DrapeError('PROXY_SIGNATURE_INVALID', 'The request is not signed by the proxy of a shop.')
  }
  const ownerIds = shopperIds(shop.id, shopper)
  const usableIds = [...ownerIds, addressShopperId(shop.id, shopper.addressHash)]
  return { shop, account, shopperId: shopperId(shop.id, shopper), ownerIds, usableIds }
}

export interface ServerKeyCheck {
  /** Looks up secret keys. */
  readonly findServerKey: KeyLookup
}

export const SERVER_KEY_HEADER = {
  'X-Api-Key':
    'Optional: the secret key of the account, from the server of the shop only. With the key, the generation may belong to any visitor of the shop.',
}

/**
 * Owners whose generations the request may read and share. Null: all of the shop, because the request has a secret key of
 * the account. Throws `INVALID_API_KEY`, or `FORBIDDEN` for a key without the scope.
 */
export async function readableOwners(
  ctx: AppContext,
  { findServerKey }: ServerKeyCheck,
): Promise<readonly string[] | null> {
  const { account, usableIds } = requesterOf(ctx)
  const sent = ctx.get('x-api-key')
  if (sent === '') return usableIds
  const found = await findServerKey(sent, ctx.ip)
  if (found?.account.id !== account.id) throw new DrapeError('INVALID_API_KEY', 'The API key is not valid.')
  assertScope(found.key, ['try-on', 'read'])
  return null
}
