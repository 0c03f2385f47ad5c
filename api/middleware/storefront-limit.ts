import type { Middleware } from 'koa'
import type { Budget } from '../budget.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppContext, AppState } from '../state.ts'

/** Spends one of the budget of whoever `idOf` names. Throws `RATE_LIMIT_EXCEEDED` with `Retry-After`. */
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
