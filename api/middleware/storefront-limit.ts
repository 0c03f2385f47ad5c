import type { Middleware } from 'koa'
import type { Budget } from '../limits/budget.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppContext, AppState } from '../state.ts'

/** A shop's server that names no addresses has the budget of this number of addresses for all of its shoppers. */
const SHARED_ADDRESSES = 20

export const SHARED_ADDRESS_MESSAGE =
  'The server of the shop names no addresses of its shoppers, so they share one budget: send each address in X-Drape-Shopper-Address.'

/** Spends one of the budget of the shopper's network address within the shop. Throws `RATE_LIMIT_EXCEEDED` with `Retry-After`. */
export function addressLimit(
  createBudget: (name: string, points: number) => Budget,
  name: string,
  points: number,
): Middleware<AppState> {
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

/** Spends one of the budget that `idOf` names. Throws `RATE_LIMIT_EXCEEDED` with `Retry-After`. */
export function storefrontLimit(budget: Budget, idOf: (ctx: AppContext) => string): Middleware<AppState> {
  return async function limit(ctx, next) {
    const { allowed, resetSeconds } = await budget(idOf(ctx as AppContext))
    if (!allowed) {
      ctx.set('Retry-After', String(resetSeconds))
      throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many requests. Try again later.')
    }
    await next()
  }
}
