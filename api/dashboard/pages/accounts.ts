import { ACCOUNT_COLUMNS, ACCOUNT_SETTINGS } from '../../accounts/account-settings.ts'
import {
  type AccountChanges,
  type Accounts,
  createAccounts,
  type EditedAccount,
  type ListedAccount,
  MAX_CREDITS,
} from '../../accounts/accounts.store.ts'
import type { ApiKeys } from '../../accounts/api-keys.store.ts'
import type { Ledger } from '../../accounts/ledger.store.ts'
import type { Usage } from '../../accounts/usage.store.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { Shops } from '../../shops/shops.store.ts'
import type { Webhooks } from '../../webhooks/webhooks.store.ts'
import { change } from '../forms/change.ts'
import { keepConflict } from '../forms/conflict.ts'
import { fieldsReader, Reason } from '../forms/form.ts'
import { permittedLink } from '../forms/form-elements.ts'
import { labelsOf, presentSettings, settingsReader } from '../forms/setting-fields.ts'
import { count } from '../html/elements.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { listPages } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { ofAccount, pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import {
  ACCOUNT_LIST,
  presentAccount,
  presentAccountLinks,
  presentNewAccount,
  presentNewKeys,
  STATES,
} from './accounts.view.ts'
import { type Engines, findEngineChoices } from './engine-names.ts'

export interface AccountPagesOptions {
  readonly accounts: Accounts
  readonly keys: ApiKeys
  readonly ledger: Ledger
  readonly usage: Usage
  readonly shops: Shops
  readonly webhooks: Webhooks
  readonly audit: OperatorAudit
  readonly engines: Engines
}

/** The page of the account then shows the new balance. */
const CREDITED = 'credits.add'

/** Accounts, their settings and their credits. */
export const accountPages = pages<AccountPagesOptions>([
  ...listPages<AccountPagesOptions, ListedAccount>({
    path: '/accounts',
    menu: 'Accounts',
    columns: ACCOUNT_LIST,
    filters: [{ of: 'isActive', label: 'State', options: STATES }],
    open: openAccounts,
  }),
  { route: 'GET /accounts/new', role: 'admin', run: showNewAccount },
  {
    route: 'POST /accounts',
    role: 'admin',
    form: '/accounts/new',
    done: {
      'account.create': {
        message: 'The account was created, with its first keys.',
        at: '/accounts/:object',
        showsSecret: true,
      },
    },
    run: createAccount,
  },
  { route: 'GET /accounts/:id', role: 'viewer', owns: ofAccount, run: showAccount },
  {
    route: 'POST /accounts/:id',
    role: 'admin',
    done: { 'account.update': 'The settings of the account were saved.' },
    run: changeAccount,
  },
  {
    route: 'POST /accounts/:id/active',
    role: 'admin',
    done: {
      'account.activate': 'The account was activated.',
      'account.deactivate': 'The account was deactivated.',
    },
    run: changeActive,
  },
  change({
    route: 'POST /accounts/:id/credits',
    role: 'billing',
    action: CREDITED,
    message: 'The balance was changed.',
    find: ({ params: { id }, state }, _: AccountPagesOptions) => ({ id, accountId: id, ...readCredits(state.form) }),
    run: async (within, { accountId, credits, reason }) => {
      const balance = await createAccounts(within).addCredits({ accountId, credits, note: reason })
      return { credits, balance }
    },
  }),
])

function openAccounts(ctx: DashboardContext, { accounts }: AccountPagesOptions): OpenList<ListedAccount> {
  return {
    title: 'Accounts',
    caption: 'Accounts',
    listing: accounts.listing,
    actions: permittedLink({ forms: ctx.state.forms, path: '/accounts/new', className: 'button' }, 'New account'),
    empty: 'There are no accounts yet. Create one with the button “New account”: it gets its first keys and credits.',
  }
}

async function showNewAccount(ctx: DashboardContext, { engines }: AccountPagesOptions): Promise<void> {
  const names = await findEngineChoices(engines)
  showPage(ctx, { title: 'New account', body: presentNewAccount({ engines: names, forms: ctx.state.forms }) })
}

const SETTINGS = { ...ACCOUNT_COLUMNS, ...ACCOUNT_SETTINGS }
const readNew = settingsReader(SETTINGS, { credits: Type.Integer({ minimum: 0, maximum: MAX_CREDITS, default: 0 }) })

async function createAccount(ctx: DashboardContext, { audit, engines }: AccountPagesOptions): Promise<void> {
  const { settings: typed, others } = await readNew(ctx.state.form, { engines })
  const { name, email, retentionDays, ...rest } = typed
  const { credits } = others
  const settings = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
  const made = await audit.record(actorOf(ctx), async (within) => {
    const created = await createAccounts(within).insert({ name, email, credits, retentionDays, settings })
    const details = { name, credits }
    return { created, act: { action: 'account.create', object: created.id, accountId: created.id, details } }
  })
  if (made === null) return
  showPage(ctx, {
    title: 'Account created',
    body: presentNewKeys({
      nextSteps: ctx.state.nextSteps,
      accountId: made.created.id,
      keys: [
        ['Secret key', made.created.apiKey],
        ['Publishable key', made.created.publishableKey],
      ],
    }),
  })
}

async function showAccount(ctx: DashboardContext, options: AccountPagesOptions): Promise<void> {
  const account = await findAccount(ctx, options)
  const { id: accountId } = account
  const [keys, ledger, steps, failures, shops, endpoints, engines] = await Promise.all([
    options.keys.list(accountId),
    options.ledger.listingOf(accountId).list({}, { limit: 5 }),
    options.usage.countSteps({ hours: 14 * 24, step: 'day', accountId }),
    options.usage.countFailures({ hours: 14 * 24, accountId }),
    options.shops.list(accountId),
    options.webhooks.list(accountId),
    findEngineChoices(options.engines, [account.settings.defaultEngine]),
  ])
  showPage(ctx, {
    title: account.name,
    actions: presentAccountLinks(accountId, ctx.state.forms),
    notice: ctx.query.done === CREDITED ? `The new balance is ${count(account.balance)} credits.` : undefined,
    body: presentAccount({ account, keys, ledger, steps, failures, shops, endpoints, engines, forms: ctx.state.forms }),
  })
}

/** Throws `ACCOUNT_NOT_FOUND`. */
export async function findAccount(
  ctx: DashboardContext,
  { accounts }: { accounts: Pick<Accounts, 'findEdition'> },
): Promise<EditedAccount> {
  const account = await accounts.findEdition(ctx.params.id)
  if (account === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${ctx.params.id} does not exist.`)
  return account
}

const Edition = Type.String({ minLength: 1 })
const readSettings = settingsReader(SETTINGS, { edition: Edition })

async function changeAccount(ctx: DashboardContext, options: AccountPagesOptions): Promise<void> {
  const { settings: before } = await findAccount(ctx, options)
  const { settings: typed, others } = await readSettings(ctx.state.form, { engines: options.engines, before })
  const { name, email, retentionDays, ...settings } = typed
  const changes = { name, email, retentionDays, settings }
  await changeEdition(ctx, options, { changes, edition: others.edition, action: 'account.update' })
}

const readActive = fieldsReader(
  Type.Object({ active: Type.Boolean(), edition: Edition, reason: Type.Optional(Type.String({ maxLength: 500 })) }),
)

async function changeActive(ctx: DashboardContext, options: AccountPagesOptions): Promise<void> {
  const { active, edition, reason } = readActive(ctx.state.form)
  const action = active ? 'account.activate' : 'account.deactivate'
  await changeEdition(ctx, options, { changes: { isActive: active }, edition, action, reason })
}

interface Change {
  readonly changes: AccountChanges
  readonly edition: string
  readonly action: string
  readonly reason?: string
}

/** Updates the account if it still has the edition that the operator saw; otherwise shows the conflict. */
async function changeEdition(
  ctx: DashboardContext,
  options: AccountPagesOptions,
  { changes, edition, action, reason }: Change,
): Promise<void> {
  const seen = await findAccount(ctx, options)
  const { settings, ...rest } = changes
  const changed = await options.audit.record(actorOf(ctx), async (within) => {
    const account = await createAccounts(within).updateEdition(seen.id, changes, edition)
    const details = presentSettings({ ...rest, ...settings })
    return account && { act: { action, object: seen.id, accountId: seen.id, reason, details } }
  })
  if (changed !== null) return seeOther(ctx, `/accounts/${seen.id}`, action)
  const { settings: limits, ...now } = await findAccount(ctx, options)
  await keepConflict(ctx, {
    what: 'account',
    id: seen.id,
    names: labelsOf(SETTINGS),
    audit: options.audit,
    sent: { ...rest, ...settings },
    now: { ...now, ...limits },
  })
  return showAccount(ctx, options)
}

const readCredits = fieldsReader(
  Type.Object({
    credits: Type.Integer({ minimum: -MAX_CREDITS, maximum: MAX_CREDITS }),
    reason: Reason,
  }),
  { credits: 'Enter a whole number such as 100 or -20.' },
)
