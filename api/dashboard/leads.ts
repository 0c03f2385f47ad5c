import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import type { ShopRecord, Shops } from '../shops/shops.store.ts'
import { createLeadOutbox } from '../storefront/leads/lead-outbox.store.ts'
import { createLeads, type LeadRecord, type Leads } from '../storefront/leads/leads.store.ts'
import { allOf, sendCsv } from './csv-file.ts'
import { fieldsReader } from './form.ts'
import { seeOther, showPage } from './layout.ts'
import { presentLeads, presentShopLeads } from './leads.view.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import { actorOf, type DashboardContext } from './state.ts'

export interface LeadPagesOptions {
  readonly leads: Leads
  readonly shops: Shops
  readonly audit: OperatorAudit
}

/** E-mail addresses that shoppers left: counts and, with a reason, the addresses of a shop as a file. */
export const leadPages = pages<LeadPagesOptions>([
  { route: 'GET /leads', role: 'viewer', menu: 'Leads', run: showLeads },
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
    route: 'POST /leads/:shop/delete',
    role: 'support',
    form: '/leads/:shop',
    done: { 'leads.delete': { message: 'The address was deleted.', at: '/leads/:object' } },
    run: deleteLead,
  },
])

async function showLeads(ctx: DashboardContext, { leads }: LeadPagesOptions): Promise<void> {
  showPage(ctx, { title: 'Leads', body: presentLeads(await leads.countByShop()) })
}

async function findShop(ctx: DashboardContext, { shops }: LeadPagesOptions): Promise<ShopRecord> {
  const shop = await shops.findById(ctx.params.shop)
  if (shop === null) throw new DrapeError('ROUTE_NOT_FOUND', `The shop ${ctx.params.shop} does not exist.`)
  return shop
}

async function showShopLeads(ctx: DashboardContext, options: LeadPagesOptions): Promise<void> {
  const shop = await findShop(ctx, options)
  const counted = (await options.leads.countByShop()).find(({ shopId }) => shopId === shop.id) ?? null
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
  const { id, accountId } = await findShop(ctx, options)
  await options.audit.record(actorOf(ctx), async (within) => {
    const leads = await createLeadOutbox(within).retry(id)
    return { act: { action: 'leads.retry', object: id, accountId, details: { leads } } }
  })
  seeOther(ctx, `/leads/${id}`, 'sent')
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
