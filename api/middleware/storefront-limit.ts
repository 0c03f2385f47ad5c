import type { Middleware } from 'koa'
import { type Budget, createBudget } from '../limits/budget.ts'
import { DrapeError } from '../shared/errors.ts'
import type { Redis } from '../shared/redis.ts'
import { shopperId } from '../shoppers/shopper.ts'
import type { AppContext, AppState } from '../state.ts'

/** Creates a budget of `points` requests per window. Routes with the same budget name share it. */
type CreateBudget = (name: string, points: number) => Budget

export interface Budgets {
  readonly perMinute: CreateBudget
  readonly perFiveMinutes: CreateBudget
  readonly perHour: CreateBudget
}

export function createBudgets({ redis, onLocal }: { redis: Redis; onLocal: () => void }): Budgets {
  const known = new Map<string, Budget>()
  const within =
    (seconds: number): CreateBudget =>
    (name, points) => {
      const budget = known.get(name) ?? createBudget({ redis, name, points, seconds, onLocal })
      known.set(name, budget)
      return budget
    }
  return { perMinute: within(60), perFiveMinutes: within(300), perHour: within(3600) }
}

/**
 * A shop server that does not forward addresses gets the budget of this number of addresses for all of its shoppers.
 */
const SHARED_ADDRESSES = 20

export const SHARED_ADDRESS_MESSAGE =
  'The server of the shop does not forward the addresses of its shoppers, so they share one budget. Send each address in X-Drape-Shopper-Address.'

/**
 * Spends one request of the budget of the shopper's network address within the shop. Throws `RATE_LIMIT_EXCEEDED` with
 * `Retry-After`.
 */
export function addressLimit(createBudget: CreateBudget, name: string, points: number): Middleware<AppState> {
  const ofAddress = createBudget(name, points)
  const ofServer = createBudget(`${name}-shared`, points * SHARED_ADDRESSES)
  return async function limit(ctx, next) {
    const { shop, shopper } = ctx.state
    const budget = shopper.isAddressShared ? ofServer : ofAddress
    const { allowed, resetSeconds } = await budget(`${shop?.id ?? ''}:${shopper.addressHash}`)
    if (!allowed) {
      ctx.set('Retry-After', String(resetSeconds))
      throw new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        shopper.isAddressShared ? SHARED_ADDRESS_MESSAGE : 'Too many requests. Try again later.',
      )
    }
    await next()
  }
}

/** Spends one request of the budget of `idOf`. Throws `RATE_LIMIT_EXCEEDED` with `Retry-After`. */
export function storefrontLimit(budget: Budget, idOf: (ctx: AppContext) => string): Middleware<AppState> {
  return async function limit(ctx, next) {
    await spend(ctx, budget, idOf(ctx))
    await next()
  }
}

/** Spends one request of the budget of the ID. Throws `RATE_LIMIT_EXCEEDED` with `Retry-After`. */
export async function spend(ctx: Pick<AppContext, 'set'>, budget: Budget, id: string): Promise<void> {
  const { allowed, resetSeconds } = await budget(id)
  if (allowed) return
  ctx.set('Retry-After', String(resetSeconds))
  throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many requests. Try again later.')
}

export function shopOf({ state }: Pick<AppContext, 'state'>): string {
  return state.shop?.id ?? ''
}

export function shopperOf({ state }: Pick<AppContext, 'state'>): string {
  return shopperId(shopOf({ state }), state.shopper)
}
