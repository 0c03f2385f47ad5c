import type { Middleware } from 'koa'
import { createOpenResponses } from '../http/limits/open-responses.ts'
import { createRateLimiter, type RateLimiter } from '../http/limits/rate-limiter.ts'
import type { AppContext, AppState } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { siteOf } from '../shared/network/addresses.ts'
import type { Redis } from '../shared/queue/redis.ts'
import { hashText, type SigningSecret } from '../shared/signing/signing.ts'
import {
  type BudgetLayer,
  type BudgetName,
  type BudgetRefusal,
  type Caller,
  STOREFRONT_BUDGETS,
  type StorefrontBudget,
} from './public-rate-limits.ts'
import { hashAddress, isNamed, shopperId } from './shopper.ts'

/**
 * A shop server that does not forward addresses gets the budget of this number of addresses for all of its shoppers.
 */
const SHARED_ADDRESSES = 20
/** Seconds after which a refused stream may be opened again: streams end with their generation. */
const OPEN_RETRY_SECONDS = 10

export const SHARED_ADDRESS_MESSAGE =
  'The server of the shop does not forward the addresses of its shoppers, so they share one budget. Send each address in X-Drape-Shopper-Address.'

/** The budgets of the public routes, shared by all replicas. */
export interface Budgets {
  /**
   * Middleware that spends one request. Throws `RATE_LIMIT_EXCEEDED` with `Retry-After`. `ownerOf` replaces the visitor, for
   * requests that something else identifies.
   */
  limit(name: BudgetName, ownerOf?: (ctx: AppContext) => string): Middleware<AppState>
  /** `limit` for a handler. */
  spend(ctx: AppContext, name: BudgetName): Promise<void>
  /** Spends one request; null if no budget refuses it. */
  findRefusal(name: BudgetName, caller: Caller): Promise<BudgetRefusal | null>
}

export function createBudgets({
  redis,
  signingSecret,
  onLocal,
}: {
  redis: Redis
  signingSecret: SigningSecret
  onLocal: () => void
}): Budgets {
  const known = new Map<string, RateLimiter>()
  const open = createOpenResponses()
  function budgetOf(name: string, points: number, seconds: number): RateLimiter {
    const budget = known.get(name) ?? createRateLimiter({ redis, name, points, seconds, onLocal })
    known.set(name, budget)
    return budget
  }

  async function findRefusal(name: BudgetName, caller: Caller, owner?: string): Promise<BudgetRefusal | null> {
    const row: StorefrontBudget = STOREFRONT_BUDGETS[name]
    for (const { layer, id, points } of layersOf(row, { ...caller, owner, signingSecret })) {
      const { allowed, retrySeconds } = await budgetOf(`${name}:${layer}`, points, row.seconds)(id)
      if (layer === 'reserved' && allowed) return null
      if (layer !== 'reserved' && !allowed) return { layer, retrySeconds }
    }
    return null
  }

  async function spend(ctx: AppContext, name: BudgetName, owner?: string): Promise<void> {
    const caller = callerOf(ctx, signingSecret)
    const refusal = await findRefusal(name, caller, owner)
    if (refusal !== null) throw refuse(ctx, { ...refusal, message: messageOf(refusal, caller) })
    const { open: limits }: StorefrontBudget = STOREFRONT_BUDGETS[name]
    if (limits === undefined || open(ctx.res, openLimitsOf(limits, caller))) return
    const message = 'Too many event streams are open. Close one, or poll the generation.'
    throw refuse(ctx, { retrySeconds: OPEN_RETRY_SECONDS, message })
  }

  return {
    findRefusal,
    spend,
    limit: (name, ownerOf) => async (ctx, next) => {
      await spend(ctx as AppContext, name, ownerOf?.(ctx as AppContext))
      await next()
    },
  }
}

interface SpendingCaller extends Caller {
  readonly owner: string | undefined
  readonly signingSecret: SigningSecret
}

/** Budgets that a request spends, in order: refused requests of one visitor do not spend the budgets of others. */
function layersOf(row: StorefrontBudget, caller: SpendingCaller) {
  const { shopId, shopper, owner, signingSecret } = caller
  const { isAddressShared } = shopper
  const isProven = shopper.customerId !== null || shopper.visitorId !== null
  const network = () => `${shopId}:${hashText(signingSecret, `site:${siteOf(shopper.address)}`)}`
  const layers: readonly [BudgetLayer, (() => string) | null][] = [
    ['visitor', () => owner ?? visitorOf(caller)],
    ['address', () => `${shopId}:${shopper.addressHash}`],
    ['network', isAddressShared ? null : network],
    ['reserved', isAddressShared ? null : network],
    ['strangers', isProven ? null : () => shopId],
    ['shop', () => shopId],
    ['all', () => 'all'],
  ]
  return layers.flatMap(([layer, idOf]) => {
    const points = row[layer]
    if (points === undefined || idOf === null) return []
    return [{ layer, id: idOf(), points: layer === 'address' && isAddressShared ? points * SHARED_ADDRESSES : points }]
  })
}

/** The visitor; without a name their address, and without an address the shop. */
function visitorOf({ shopId, shopper }: Caller): string {
  return isNamed(shopper) || !shopper.isAddressShared ? shopperId(shopId, shopper) : shopId
}

function callerOf({ ip, state: { shop, shopper } }: AppContext, secret: SigningSecret): Caller {
  if (shop) return { shopId: shop.id, shopper }
  const unnamed = { customerId: null, anonymousId: null, visitorId: null, isAddressShared: false }
  return { shopId: '', shopper: { ...unnamed, address: ip, addressHash: hashAddress(ip, secret) } }
}

function messageOf({ layer }: BudgetRefusal, { shopper }: Caller): string {
  const isShared = shopper.isAddressShared && !(layer === 'visitor' && isNamed(shopper))
  return isShared ? SHARED_ADDRESS_MESSAGE : 'Too many requests. Try again later.'
}

function refuse(ctx: AppContext, { retrySeconds, message }: { retrySeconds: number; message: string }): DrapeError {
  // Pages about errors do not set it.
  ctx.set('Retry-After', String(retrySeconds))
  return new DrapeError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: retrySeconds })
}

/** Of the visitor and of the address. */
function openLimitsOf({ visitor, address }: NonNullable<StorefrontBudget['open']>, caller: Caller) {
  const { shopId, shopper } = caller
  return [
    { id: `visitor ${visitorOf(caller)}`, max: visitor },
    {
      id: `address ${shopId}:${shopper.addressHash}`,
      max: address * (shopper.isAddressShared ? SHARED_ADDRESSES : 1),
    },
  ]
}
