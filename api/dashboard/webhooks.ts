import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import { generateWebhookSecret } from '../shared/signing/webhook-signature.ts'
import { type EndpointRules, endpointUrlProblem } from '../webhooks/endpoint-url.ts'
import { createWebhooks, WEBHOOK_EVENTS, type WebhookEvent, type Webhooks } from '../webhooks/webhooks.store.ts'
import { type AccountSearch, describeAccount, readAccount, suggestAccounts } from './account-field.ts'
import { keepConflict } from './conflict.ts'
import { fieldsReader, queryOf } from './form.ts'
import { permittedLink } from './form-elements.ts'
import { seeOther, showPage } from './layout.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import { actorOf, type DashboardContext } from './state.ts'
import {
  ENDPOINT_SETTINGS,
  presentEndpoint,
  presentEndpointSecret,
  presentEndpoints,
  presentNewEndpoint,
} from './webhooks.view.ts'

export interface WebhookPagesOptions {
  readonly accounts: AccountSearch
  readonly webhooks: Webhooks
  readonly audit: OperatorAudit
  readonly rules: EndpointRules
}

/** Endpoints, their events, their deliveries, and redelivery. */
export const webhookPages = pages<WebhookPagesOptions>([
  { route: 'GET /webhooks', role: 'viewer', menu: 'Webhooks', run: showEndpoints },
  { route: 'GET /webhooks/new', role: 'admin', run: showNewEndpoint },
  {
    route: 'POST /webhooks',
    role: 'admin',
    form: '/webhooks/new',
    done: { 'webhook.create': { message: 'The endpoint was created.', at: '/webhooks/:object', showsSecret: true } },
    run: createEndpoint,
  },
  { route: 'GET /webhooks/:id', role: 'viewer', run: showEndpoint },
  {
    route: 'POST /webhooks/:id',
    role: 'admin',
    form: '/webhooks/:id',
    done: { 'webhook.update': { message: 'The settings of the endpoint were saved.', at: '/webhooks/:object' } },
    run: changeEndpoint,
  },
  {
    route: 'POST /webhooks/:id/test',
    role: 'support',
    form: '/webhooks/:id',
    done: { 'webhook.test': { message: 'The delivery of a test was scheduled.', at: '/webhooks/:object' } },
    run: testEndpoint,
  },
  {
    route: 'POST /webhooks/:id/delete',
    role: 'admin',
    form: '/webhooks/:id',
    done: { 'webhook.delete': { message: 'The endpoint was deleted.', at: '/webhooks' } },
    run: deleteEndpoint,
  },
  {
    route: 'POST /webhooks/:id/secrets',
    role: 'admin',
    form: '/webhooks/:id',
    done: { 'webhook.secret.add': { message: 'A new secret was added.', at: '/webhooks/:object', showsSecret: true } },
    run: addSecret,
  },
  {
    route: 'POST /webhooks/:id/secrets/remove',
    role: 'admin',
    form: '/webhooks/:id',
    done: { 'webhook.secret.remove': { message: 'The older secret was removed.', at: '/webhooks/:object' } },
    run: removeSecret,
  },
  {
    route: 'POST /webhooks/:id/deliveries/:delivery/retry',
    role: 'support',
    form: '/webhooks/:id',
    done: { 'webhook.replay': { message: 'The delivery was scheduled again.', at: '/webhooks/:object' } },
    run: retryDelivery,
  },
])

async function showEndpoints(ctx: DashboardContext, { webhooks, accounts }: WebhookPagesOptions): Promise<void> {
  const endpoints = await webhooks.list(queryOf(ctx).get('account'))
  const names = await accounts.findNames(endpoints.map(({ accountId }) => accountId))
  const { forms } = ctx.state
  const actions = permittedLink({ forms, path: '/webhooks/new', className: 'button' }, 'New endpoint')
  showPage(ctx, { title: 'Webhooks', actions, body: presentEndpoints(endpoints, { names, forms }) })
}

async function showNewEndpoint(ctx: DashboardContext, { accounts }: WebhookPagesOptions): Promise<void> {
  const account = await describeAccount(accounts, queryOf(ctx).get('account'))
  const suggestions = await suggestAccounts(accounts)
  showPage(ctx, { title: 'New endpoint', body: presentNewEndpoint({ account, suggestions, forms: ctx.state.forms }) })
}

const readNew = fieldsReader(
  Type.Object({ account: Type.String({ maxLength: 300 }), url: Type.String({ maxLength: 2000 }) }),
)

async function createEndpoint(ctx: DashboardContext, { audit, rules, accounts }: WebhookPagesOptions): Promise<void> {
  const { account, url } = readNew(ctx.state.form)
  const accountId = await readAccount(accounts, account)
  assertUrl(url, rules)
  const secret = generateWebhookSecret()
  const made = await audit.record(actorOf(ctx), async (within) => {
    const endpoint = { accountId, url, eventTypes: readEvents(ctx), secret }
    const { id } = await createWebhooks(within).insert(endpoint)
    return { id, act: { action: 'webhook.create', object: id, accountId, details: { url } } }
  })
  if (made !== null) showSecret(ctx, { id: made.id, secret })
}

function assertUrl(url: string, rules: EndpointRules): void {
  const why = endpointUrlProblem(url, rules)
  if (why !== null) throw invalid('url', `Nothing can be delivered to this URL: ${why}.`)
}

/** The selected events. Throws `VALIDATION_FAILED` when none is selected. */
function readEvents(ctx: DashboardContext): WebhookEvent[] {
  const ticked = ctx.state.form.getAll('event')
  const events = WEBHOOK_EVENTS.filter((event) => ticked.includes(event))
  if (events.length === 0) throw invalid('event', 'Choose at least one event.')
  return events
}

function showSecret(ctx: DashboardContext, secret: { id: string; secret: string }): void {
  showPage(ctx, { title: 'Secret created', body: presentEndpointSecret(secret) })
}

const DELIVERIES = 100

async function showEndpoint(ctx: DashboardContext, { webhooks, accounts }: WebhookPagesOptions): Promise<void> {
  const endpoint = await webhooks.getEdition(ctx.params.id)
  const failed = queryOf(ctx).get('only') === 'failed'
  const deliveries = await webhooks.listDeliveries({ endpointId: endpoint.id, failed, limit: DELIVERIES })
  const accountName = (await accounts.findNames([endpoint.accountId])).get(endpoint.accountId)
  const page = { accountName, endpoint, deliveries, failed, forms: ctx.state.forms }
  showPage(ctx, { title: 'Endpoint', body: presentEndpoint(page) })
}

const readSettings = fieldsReader(
  Type.Object({
    url: Type.String({ maxLength: 2000 }),
    isActive: Type.Boolean({ default: false }),
    edition: Type.String({ minLength: 1 }),
  }),
)

async function changeEndpoint(ctx: DashboardContext, options: WebhookPagesOptions): Promise<void> {
  const { webhooks, audit, rules } = options
  const { id, accountId } = await webhooks.get(ctx.params.id)
  const { url, isActive, edition } = readSettings(ctx.state.form)
  assertUrl(url, rules)
  const eventTypes = readEvents(ctx)
  const changed = await audit.record(actorOf(ctx), async (within) => {
    const endpoint = await createWebhooks(within).updateEdition(id, { url, eventTypes, isActive }, edition)
    const details = { url, isActive, events: eventTypes.join(' ') }
    return endpoint && { act: { action: 'webhook.update', object: id, accountId, details } }
  })
  if (changed === null) {
    const current = await webhooks.get(id)
    const [sent, now] = [
      { url, event: eventTypes, isActive },
      { ...current, event: current.eventTypes },
    ]
    await keepConflict(ctx, { what: 'endpoint', id, sent, now, names: ENDPOINT_SETTINGS, audit })
    return showEndpoint(ctx, options)
  }
  seeOther(ctx, `/webhooks/${id}`, 'saved')
}

async function testEndpoint(ctx: DashboardContext, { webhooks, audit }: WebhookPagesOptions): Promise<void> {
  const { id, accountId } = await webhooks.get(ctx.params.id)
  await audit.record(actorOf(ctx), async (within) => {
    const delivery = await createWebhooks(within).insertTest(id)
    return { act: { action: 'webhook.test', object: id, accountId, details: { delivery } } }
  })
  seeOther(ctx, `/webhooks/${id}`, 'sent')
}

async function deleteEndpoint(ctx: DashboardContext, { webhooks, audit }: WebhookPagesOptions): Promise<void> {
  const { id, accountId, url } = await webhooks.get(ctx.params.id)
  await audit.record(actorOf(ctx), async (within) => {
    await createWebhooks(within).delete(id)
    return { act: { action: 'webhook.delete', object: id, accountId, details: { url } } }
  })
  seeOther(ctx, '/webhooks', 'removed')
}

async function addSecret(ctx: DashboardContext, { webhooks, audit }: WebhookPagesOptions): Promise<void> {
  const { id, accountId } = await webhooks.get(ctx.params.id)
  const secret = generateWebhookSecret()
  await audit.record(actorOf(ctx), async (within) => {
    await createWebhooks(within).addSecret(id, secret)
    return { act: { action: 'webhook.secret.add', object: id, accountId } }
  })
  showSecret(ctx, { id, secret })
}

async function removeSecret(ctx: DashboardContext, { webhooks, audit }: WebhookPagesOptions): Promise<void> {
  const { id, accountId } = await webhooks.get(ctx.params.id)
  await audit.record(actorOf(ctx), async (within) => {
    await createWebhooks(within).removeSecret(id, null)
    return { act: { action: 'webhook.secret.remove', object: id, accountId } }
  })
  seeOther(ctx, `/webhooks/${id}`, 'removed')
}

async function retryDelivery(ctx: DashboardContext, { webhooks, audit }: WebhookPagesOptions): Promise<void> {
  const { id, accountId } = await webhooks.get(ctx.params.id)
  const delivery = Number(ctx.params.delivery)
  if (!Number.isSafeInteger(delivery)) throw invalid('delivery', 'must be a number')
  await audit.record(actorOf(ctx), async (within) => {
    await createWebhooks(within).retry(delivery, id)
    return { act: { action: 'webhook.replay', object: id, accountId, details: { delivery } } }
  })
  seeOther(ctx, `/webhooks/${id}`, 'sent')
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The endpoint is not valid.', { details: [{ path, message }] })
}
