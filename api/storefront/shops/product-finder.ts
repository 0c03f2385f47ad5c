import { DrapeError } from '../../shared/contract/errors.ts'
import { createCache } from '../../shared/process/cache.ts'
import type { BudgetRefusal, Caller } from '../../shops/public-rate-limits.ts'
import type { Shopper } from '../../shops/shopper.ts'
import type { PlatformProduct } from '../shop-platforms/shop-platform.ts'
import type { ShopPlatforms } from '../shop-platforms/shop-platforms.ts'
import type { FindProduct } from './products.ts'

/** Lifetime of the cached fact that the platform does not have a product. */
const UNKNOWN_MS = 60_000
const MAX_UNKNOWN = 10_000

export type FindProductFor = (shopper: Shopper) => FindProduct

/**
 * Finds products on a shop's platform for a shopper. Any visitor can name any ID, and each lookup calls the platform's
 * API. Unknown IDs are therefore cached for 1 minute, concurrent lookups of an ID share a call, and budgets limit the
 * calls: first the budget of the shopper's address, so that one visitor cannot exhaust the budget of the shop. Throws
 * `RATE_LIMIT_EXCEEDED` over the budget of the address, and a retryable `SERVICE_UNAVAILABLE` over that of the shop.
 */
export function createProductFinder(
  platformOf: ShopPlatforms,
  { findRefusal, now }: { findRefusal: (caller: Caller) => Promise<BudgetRefusal | null>; now?: () => number },
): FindProductFor {
  const unknown = createCache<true>({ max: MAX_UNKNOWN, ms: UNKNOWN_MS, now })
  const pending = new Map<string, Promise<PlatformProduct | null>>()

  async function ask(name: string, shopper: Shopper, ...[shop, product, variant]: Parameters<FindProduct>) {
    const refusal = await findRefusal({ shopId: shop.id, shopper })
    if (refusal !== null) throw refused(refusal)
    const found = await platformOf(shop).findProduct(shop, product, variant)
    if (found !== null) return found
    unknown.set(name, true)
    return null
  }

  return (shopper) => async (shop, product, variant) => {
    // An unknown product has no variants, so caching the product is sufficient.
    const name = `${shop.id} ${product}`
    if (unknown.has(name)) return null
    const call = `${name} ${variant}`
    const asked = pending.get(call) ?? ask(name, shopper, shop, product, variant).finally(() => pending.delete(call))
    pending.set(call, asked)
    return asked
  }
}

function refused({ layer, retrySeconds: retryAfterSeconds }: BudgetRefusal): DrapeError {
  if (layer === 'shop') {
    return new DrapeError(
      'SERVICE_UNAVAILABLE',
      'Too many products of the shop are being looked up. Try again after the seconds in Retry-After.',
      { retryable: true, retryAfterSeconds },
    )
  }
  return new DrapeError(
    'RATE_LIMIT_EXCEEDED',
    'Too many products are being looked up from your network. Try again after the seconds in Retry-After.',
    { retryAfterSeconds },
  )
}
