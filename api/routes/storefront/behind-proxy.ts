import type { Middleware } from 'koa'
import type { Budgets } from '../../middleware/storefront-limit.ts'
import type { AppState } from '../../state.ts'
import type { Guards } from '../route.ts'

export interface ProxyGuard {
  /** Authenticates requests by the signature of a shop's proxy. */
  readonly fromShop: Middleware<AppState>
}

export interface BudgetedGuards extends ProxyGuard {
  readonly budgets: Budgets
}

export interface ParsingGuards extends BudgetedGuards {
  readonly parse: Middleware<AppState>
}

export function behindProxy({ fromShop }: ProxyGuard): Guards {
  return [fromShop]
}
