import type { Middleware } from 'koa'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import type { KeyLookup } from '../accounts/key-lookup.ts'
import { assertScope, type Scope } from '../accounts/restrictions.ts'
import type { AppContext, AppState } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { shopperId, shopperIds } from './shopper.ts'
import type { ShopRecord } from './shops.store.ts'

export interface Requester {
  readonly shop: ShopRecord
  readonly account: AccountRecord
  /** ID under which limits count the shopper, and under which the request stores. */
  readonly shopperId: string
  /**
   * Whose photos and results the request may use, read, share and erase: the shopper, under all names that the request gives. Empty if
   * nothing identifies the shopper.
   */
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

/** Refuses a request that nothing identifies: nobody could use or erase what it stores. */
export const requireIdentity: Middleware<AppState> = (ctx, next) => {
  if (requesterOf(ctx as AppContext).ownerIds.length === 0) throw unidentified()
  return next()
}

export function unidentified(): DrapeError {
  const message = 'The request needs a visitor: send X-Service-Visitor-Token or X-Service-Anonymous-Id.'
  return new DrapeError('VALIDATION_FAILED', message, {
    details: [{ path: 'x-service-visitor-token', message: 'is required, or x-service-anonymous-id' }],
  })
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
 * `ownerIds`; null for all owners of the shop, because the request has a secret key of the account. Throws
 * `INVALID_API_KEY`, or `FORBIDDEN` for a key without one of the scopes.
 */
export async function readableOwners(
  ctx: AppContext,
  { findServerKey }: ServerKeyCheck,
  scopes: readonly Scope[] = ['try-on', 'read'],
): Promise<readonly string[] | null> {
  const { account, ownerIds } = requesterOf(ctx)
  const sent = ctx.get('x-api-key')
  if (sent === '') return ownerIds
  const found = await findServerKey(sent, ctx.ip)
  if (found?.account.id !== account.id) throw new DrapeError('INVALID_API_KEY', 'The API key is not valid.')
  assertScope(found.key, scopes)
  return null
}
