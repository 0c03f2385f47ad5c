import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { createShops, type Shops } from '../../shops/shops.store.ts'
import { createLeadOutbox } from '../../storefront/leads/lead-outbox.store.ts'
import { createLeads, type LeadRecord, type Leads, type ShopLeads } from '../../storefront/leads/leads.store.ts'
import type { AccountSearch } from '../forms/account-field.ts'
import { change } from '../forms/change.ts'
import { fieldsReader, Reason, readReason } from '../forms/form.ts'
import { allOf, sendCsv } from '../html/csv-file.ts'
import { showPage } from '../html/layout.ts'
import { listPages, readChosen, seeList } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import type { Act, OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { findShop } from './find-shop.ts'
import { LEAD_COLUMNS, LEAD_WORDS, presentShopLeads, RETRY_LEADS } from './leads.view.ts'

export interface LeadPagesOptions {
  readonly leads: Leads
  readonly accounts: AccountSearch
  readonly shops: Shops
  readonly audit: OperatorAudit
}

/** E-mail addresses that shoppers left: counts and, with a reason, the addresses of a shop as a file. */
export const leadPages = pages<LeadPagesOptions>([
  ...listPages<LeadPagesOptions, ShopLeads>({
    path: '/leads',
    menu: 'Leads',
    columns: LEAD_COLUMNS,
    isTimeless: true,
    open: openLeads,
  }),
  { route: 'GET /leads/:id', role: 'viewer', run: showShopLeads },
  {
    route: 'POST /leads/:id/export',
    role: 'support',
    done: { 'leads.export': 'The addresses were exported.' },
    run: exportLeads,
  },
  change({
    route: 'POST /leads/:id/retry',
    role: 'support',
    action: 'leads.retry',
    message: 'The rejected deliveries are retried.',
    find: (ctx, options: LeadPagesOptions) => findShop(ctx, options),
    run: async (within, { id }) => ({ leads: await createLeadOutbox(within).retry(id) }),
  }),
  { route: 'POST /leads/retry', role: 'support', run: retryShops },
  change({
    route: 'POST /leads/:id/delete',
    role: 'support',
    action: 'leads.delete',
    message: 'The address was deleted.',
    find: async (ctx, options: LeadPagesOptions) => ({
      ...(await findShop(ctx, options)),
      ...readDeletion(ctx.state.form),
    }),
    run: async (within, { id, email }) => {
      // No details: the audit log outlives the person's data.
      if (!(await createLeads(within).delete(id, email))) throw unknownLead()
    },
  }),
])

function openLeads(_: DashboardContext, { leads, accounts }: LeadPagesOptions): OpenList<ShopLeads> {
  return { ...LEAD_WORDS, listing: leads.byShop, accounts, chosen: RETRY_LEADS }
}

async function showShopLeads(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  const shop = await findShop(ctx, options)
  const [counted = null] = await options.leads.byShop.list({ only: { id: shop.id } }, { limit: 1 })
  showPage(ctx, { title: `Leads of ${shop.domain}`, body: presentShopLeads(shop, counted, ctx.state.forms) })
}

async function exportLeads(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  const { id, accountId, domain } = await findShop(ctx, options)
  const { reason } = readReason(ctx.state.form)
  await options.audit.insert(actorOf(ctx), { action: 'leads.export', object: id, accountId, reason })
  sendCsv(ctx, `leads-${domain}`, rowsOf(id, options.leads))
}

async function* rowsOf(shopId: string, leads: Leads): AsyncGenerator<string[]> {
  yield ['email', 'marketing_consent', 'state', 'left_at', 'reason']
  const all = allOf<LeadRecord>((last, limit) => leads.list(shopId, { after: last?.email ?? null, limit }))
  for await (const { email, marketingConsent, state, createdAt, reason } of all)
    yield [email, String(marketingConsent), state, createdAt.toISOString(), reason ?? '']
}

async function retryShops(ctx: DashboardContext, { audit }: LeadPagesOptions): Promise<void> {
  const ids = readChosen(ctx)
  await audit.record(actorOf(ctx), async (within) => {
    const act: Act[] = []
    for (const object of ids) {
      const shop = await createShops(within).findById(object)
      if (shop === null) throw new DrapeError('VALIDATION_FAILED', `The shop ${object} does not exist.`)
      const leads = await createLeadOutbox(within).retry(object)
      act.push({ action: 'leads.retry', object, accountId: shop.accountId, details: { leads } })
    }
    return { act }
  })
  seeList(ctx, '/leads', 'leads.retry')
}

const readDeletion = fieldsReader(Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }), reason: Reason }))

function unknownLead(): DrapeError {
  const message = 'must be an e-mail address that a shopper left with this shop'
  return new DrapeError('VALIDATION_FAILED', 'The lead does not exist.', { details: [{ path: 'email', message }] })
}
