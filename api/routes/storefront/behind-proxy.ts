import type { Middleware } from 'koa'
import type { Budgets } from '../../middleware/storefront-limit.ts'
import type { AppState } from '../../state.ts'
import type { Guards } from '../route.ts'

export interface ProxyGuard {
  /** Lets requests through that the proxy of a shop has signed. */
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
