import Router from '@koa/router'
import type { Middleware } from 'koa'
import { DrapeError } from '../../shared/errors.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { AccountRecord, Accounts } from '../../stores/accounts.ts'

export interface AccountOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly accounts: Accounts
}

/** GET /account, GET /account/credits */
export function accountRoutes(options: AccountOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  router.get('/account', ...(options.guards as never[]), (ctx: AppContext) => getAccount(ctx, options))
  router.get('/account/credits', ...(options.guards as never[]), (ctx: AppContext) => getCredits(ctx, options))
  return router
}

async function getAccount(ctx: AppContext, { accounts }: AccountOptions): Promise<void> {
  const account = await findCurrent(ctx, accounts)
  ctx.body = {
    id: account.id,
    mode: account.testOf === null ? 'live' : 'test',
    name: account.name,
    ...(account.email && { email: account.email }),
    creditBalance: account.balance,
    isActive: account.isActive,
    retentionDays: account.retentionDays,
    createdAt: account.createdAt.toISOString(),
  }
}

async function getCredits(ctx: AppContext, { accounts }: AccountOptions): Promise<void> {
  ctx.body = { creditBalance: (await findCurrent(ctx, accounts)).balance }
}

// The account that came with the key may be some seconds old; a balance must not be.
async function findCurrent(ctx: AppContext, accounts: Accounts): Promise<AccountRecord> {
  const account = await accounts.find(ctx.state.account.id)
  if (!account) throw new DrapeError('ACCOUNT_NOT_FOUND', 'The account does not exist.')
  return account
}
