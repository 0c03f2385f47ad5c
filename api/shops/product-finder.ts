import type { Budget, Spent } from '../limits/budget.ts'
import { createCache } from '../shared/cache.ts'
import { DrapeError } from '../shared/errors.ts'
import type { PlatformProduct } from '../shop-platforms/shop-platform.ts'
import type { ShopPlatforms } from '../shop-platforms/shop-platforms.ts'
import type { Shopper } from '../shoppers/shopper.ts'
import type { FindProduct } from './products.ts'

/** Lifetime of the cached fact that the platform does not have a product. */
const UNKNOWN_MS = 60_000
const MAX_UNKNOWN = 10_000

export type FindProductFor = (shopper: Pick<Shopper, 'addressHash' | 'isAddressShared'>) => FindProduct

export interface LookupBudgets {
  /** Budget of lookups per network address and shop. */
  readonly address: Budget
  readonly shop: Budget
}

/**
 * Finds products on a shop's platform for a shopper. Any visitor can name any ID, and each lookup calls the platform's
 * API. Unknown IDs are therefore cached for 1 minute, concurrent lookups of an ID share a call, and budgets limit the
 * calls: first the budget of the shopper's address, so that one visitor cannot exhaust the budget of the shop. Throws
 * `RATE_LIMIT_EXCEEDED` over the budget of the address, and a retryable `SERVICE_UNAVAILABLE` over that of the shop.
 */
export function createProductFinder(
  platformOf: ShopPlatforms,
  { budgets, now }: { budgets: LookupBudgets; now?: () => number },
): FindProductFor {
  const unknown = createCache<true>({ max: MAX_UNKNOWN, ms: UNKNOWN_MS, now })
  const pending = new Map<string, Promise<PlatformProduct | null>>()

  async function ask(
    name: string,
    shopper: Parameters<FindProductFor>[0],
    ...[shop, product, variant]: Parameters<FindProduct>
  ) {
    if (!shopper.isAddressShared) assertOwnBudget(await budgets.address(`${shop.id}:${shopper.addressHash}`))
    assertBudgetOfShop(await budgets.shop(shop.id))
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

function assertOwnBudget({ allowed, retrySeconds }: Spent): void {
  if (allowed) return
  throw new DrapeError(
    'RATE_LIMIT_EXCEEDED',
    'Too many products are being looked up from your network. Try again after the seconds in Retry-After.',
    { retryAfterSeconds: retrySeconds },
  )
}

function assertBudgetOfShop({ allowed, retrySeconds }: Spent): void {
  if (allowed) return
  throw new DrapeError(
    'SERVICE_UNAVAILABLE',
    'Too many products of the shop are being looked up. Try again after the seconds in Retry-After.',
    { retryable: true, retryAfterSeconds: retrySeconds },
  )
}
