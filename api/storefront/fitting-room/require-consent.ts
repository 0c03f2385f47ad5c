import type { Middleware } from 'koa'
import type { Consents } from '../../consents/consents.store.ts'
import { currentPolicy } from '../../consents/policies.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Consent } from '../../shared/generations/generations.store.ts'
import { type Requester, requesterOf } from '../../shops/requester.ts'

export interface ConsentGuard {
  readonly consents: Consents
}

/**
 * The consent of the visitor to the current policy of the shop. Null if the shop does not require consent and none was given.
 * @throws DrapeError CONSENT_REQUIRED if the shop requires consent
 */
export async function findConsent(ctx: AppContext, { consents }: ConsentGuard): Promise<Consent | null> {
  const { shop, account, shopperId } = requesterOf(ctx)
  const { version } = await currentPolicy(shop, consents)
  const at = await consents.findGiven({ accountId: account.id, shopId: shop.id, shopperId }, version)
  if (at !== null) return { policy: shop.domain, version, at: at.toISOString() }
  if (shop.requiresConsent) throw notAgreed()
  return null
}

/** Requires consent to the current policy if the shop requires it. Runs before the bytes of a photo are read. */
export function requireConsent(consents: Consents): Middleware<AppState> {
  return async function require(ctx, next) {
    if (requesterOf(ctx as AppContext).shop.requiresConsent) await findConsent(ctx as AppContext, { consents })
    await next()
  }
}

/** Whether the consent that a guard found is still valid. A withdrawal after the guard may have missed data stored since. */
export async function isConsentValid(
  { shop, account, shopperId }: Requester,
  { consents }: ConsentGuard,
): Promise<boolean> {
  if (!shop.requiresConsent) return true
  const { version } = await currentPolicy(shop, consents)
  return (await consents.findGiven({ accountId: account.id, shopId: shop.id, shopperId }, version)) !== null
}

export function notAgreed(): DrapeError {
  return new DrapeError('CONSENT_REQUIRED', 'The visitor has not agreed to the policy of the shop.')
}
