import type { Middleware } from 'koa'
import type { Budgets } from '../../middleware/storefront-limit.ts'
import type { AppState } from '../../state.ts'

export interface BudgetedGuards {
  /** Authenticates requests by the signature of a shop's proxy. */
  readonly fromShop: Middleware<AppState>
  readonly budgets: Budgets
}

export interface ParsingGuards extends BudgetedGuards {
  readonly parse: Middleware<AppState>
}
