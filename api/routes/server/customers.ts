import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { Customer } from '../../shared/stores/retention.ts'
import type { AppContext, AppState } from '../../state.ts'

export interface CustomersOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly erase: (customer: Customer) => Promise<void>
}

/** DELETE /customers/:customerId */
export function customerRoutes(options: CustomersOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  const guards = options.guards as never[]
  router.delete('/customers/:customerId', ...guards, (ctx: AppContext) => deleteCustomer(ctx, options))
  return router
}

async function deleteCustomer(ctx: AppContext, { erase }: CustomersOptions): Promise<void> {
  await erase({ accountId: ctx.state.account.id, externalUserId: ctx.params.customerId })
  ctx.status = 204
}
