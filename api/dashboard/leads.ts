import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import { createShops, type ShopRecord, type Shops } from '../shops/shops.store.ts'
import { createLeadOutbox } from '../storefront/leads/lead-outbox.store.ts'
import { createLeads, type LeadRecord, type Leads, type ShopLeads } from '../storefront/leads/leads.store.ts'
import type { AccountSearch } from './account-field.ts'
import { allOf, sendCsv } from './csv-file.ts'
import { fieldsReader } from './form.ts'
import { seeOther, showPage } from './layout.ts'
import { LEAD_COLUMNS, LEAD_WORDS, presentShopLeads, RETRY_LEADS } from './leads.view.ts'
import { listPages, readChosen, seeList } from './list.ts'
import type { OpenList } from './list.view.ts'
import type { Act, OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import { actorOf, type DashboardContext } from './state.ts'

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
  { route: 'GET /leads/:shop', role: 'viewer', run: showShopLeads },
  {
    route: 'POST /leads/:shop/export',
    role: 'support',
    form: '/leads/:shop',
    done: { 'leads.export': { message: 'The addresses were exported.', at: '/leads/:object' } },
    run: exportLeads,
  },
  {
    route: 'POST /leads/:shop/retry',
    role: 'support',
    form: '/leads/:shop',
    done: { 'leads.retry': { message: 'The rejected deliveries are retried.', at: '/leads/:object' } },
    run: retryLeads,
  },
  {
    route: 'POST /leads/retry',
    role: 'support',
    form: '/leads',
    run: retryShops,
  },
  {
    route: 'POST /leads/:shop/delete',
    role: 'support',
    form: '/leads/:shop',
    done: { 'leads.delete': { message: 'The address was deleted.', at: '/leads/:object' } },
    run: deleteLead,
  },
])

function openLeads(_: DashboardContext, { leads, accounts }: LeadPagesOptions): OpenList<ShopLeads> {
  return { ...LEAD_WORDS, listing: leads.byShop, accounts, chosen: RETRY_LEADS }
}

async function findShop(ctx: DashboardContext, { shops }: LeadPagesOptions): Promise<ShopRecord> {
  const shop = await shops.findById(ctx.params.shop)
  if (shop === null) throw new DrapeError('ROUTE_NOT_FOUND', `The shop ${ctx.params.shop} does not exist.`)
  return shop
}

async function showShopLeads(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  const shop = await findShop(ctx, options)
  const [counted = null] = await options.leads.byShop.list({ only: { id: shop.id } }, { limit: 1 })
  showPage(ctx, { title: `Leads of ${shop.domain}`, body: presentShopLeads(shop, counted, ctx.state.forms) })
}

const Reason = Type.String({ minLength: 3, maxLength: 500 })
const readReason = fieldsReader(Type.Object({ reason: Reason }))

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

async function retryLeads(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  const { id } = await findShop(ctx, options)
  await retry(ctx, [id], options)
  seeOther(ctx, `/leads/${id}`, 'sent')
}

async function retryShops(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  await retry(ctx, readChosen(ctx), options)
  seeList(ctx, '/leads', 'sent')
}

async function retry(ctx: DashboardContext, ids: readonly string[], { audit }: LeadPagesOptions): Promise<void> {
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
}

const readDeletion = fieldsReader(Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }), reason: Reason }))

async function deleteLead(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  const { id, accountId } = await findShop(ctx, options)
  const { email, reason } = readDeletion(ctx.state.form)
  await options.audit.record(actorOf(ctx), async (within) => {
    const isDeleted = await createLeads(within).delete(id, email)
    if (!isDeleted) throw unknownLead()
    // Without the address: the audit log outlives the person's data.
    return { act: { action: 'leads.delete', object: id, accountId, reason } }
  })
  seeOther(ctx, `/leads/${id}`, 'removed')
}

function unknownLead(): DrapeError {
  const message = 'must be an e-mail address that a shopper left with this shop'
  return new DrapeError('VALIDATION_FAILED', 'The lead does not exist.', { details: [{ path: 'email', message }] })
}
