import type { Middleware } from 'koa'
import type { AppState } from '../http/state.ts'
import type { Budgets } from './limit-public-routes.ts'

export interface BudgetedGuards {
  /** Authenticates requests by the signature of a shop's proxy. */
  readonly fromShop: Middleware<AppState>
  readonly budgets: Budgets
}

export interface ParsingGuards extends BudgetedGuards {
  readonly parse: Middleware<AppState>
}
