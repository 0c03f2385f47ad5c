import { reading } from '../http/guards.ts'
import { route } from '../http/route.ts'
import type { AppContext } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { Account, Credits } from './account.schema.ts'
import type { AccountRecord, Accounts } from './accounts.store.ts'

export interface AccountParts {
  readonly accounts: Accounts
}

const tag = 'Account'

export const accountRoutes = [
  route({
    method: 'get',
    path: '/tryon/v1/account',
    id: 'getAccount',
    scopes: ['read'],
    tag,
    summary: 'Fetch the account of the key',
    description: 'Mode, credits and default retention of images.',
    answers: { 200: { description: 'The current state.', schema: Account } },
    errors: ['ACCOUNT_NOT_FOUND'],
    guards: reading,
    handler: getAccount,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/account/credits',
    id: 'getCredits',
    scopes: ['read'],
    tag,
    summary: 'Fetch the number of credits left',
    description: 'A try-on is refused with INSUFFICIENT_CREDITS when none are left.',
    answers: { 200: { description: 'The current state.', schema: Credits } },
    errors: ['ACCOUNT_NOT_FOUND'],
    guards: reading,
    handler: getCredits,
  }),
]

async function getAccount(ctx: AppContext, { accounts }: AccountParts): Promise<Account> {
  const account = await findCurrent(ctx, accounts)
  return {
    id: account.id,
    mode: account.testOf === null ? 'live' : 'test',
    name: account.name,
    ...(account.email && { email: account.email }),
    creditBalance: account.balance,
    isActive: account.isActive,
    outfitPricing: account.settings.outfitPricing ?? 'layer',
    retentionDays: account.retentionDays,
    createdAt: account.createdAt.toISOString(),
  }
}

async function getCredits(ctx: AppContext, { accounts }: AccountParts): Promise<Credits> {
  return { creditBalance: (await findCurrent(ctx, accounts)).balance }
}

// The account of the key may be a few seconds old, but a balance must be current.
async function findCurrent(ctx: AppContext, accounts: Accounts): Promise<AccountRecord> {
  const account = await accounts.find(ctx.state.account.id)
  if (!account) throw new DrapeError('ACCOUNT_NOT_FOUND', 'The account does not exist.')
  return account
}
