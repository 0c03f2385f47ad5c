import { html } from '../../http/answers/html.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { generateWebhookSecret } from '../../shared/signing/webhook-signature.ts'
import { type EndpointRules, endpointUrlProblem } from '../../webhooks/endpoint-url.ts'
import {
  createWebhooks,
  DELIVERY_STATES,
  type ListedEndpoint,
  WEBHOOK_EVENTS,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
  type Webhooks,
} from '../../webhooks/webhooks.store.ts'
import { type AccountSearch, findAccountField, readAccount } from '../forms/account-field.ts'
import { change } from '../forms/change.ts'
import { keepConflict } from '../forms/conflict.ts'
import { fieldsReader, queryOf } from '../forms/form.ts'
import { permittedLink } from '../forms/form-elements.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { listPages, readChosen, seeList } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, listed, pages } from '../page.ts'
import { actorOf, type DashboardContext, type SignedInContext } from '../state.ts'
import { STATES } from './accounts.view.ts'
import {
  DELIVERY_COLUMNS,
  ENDPOINT_COLUMNS,
  ENDPOINT_SETTINGS,
  presentEndpoint,
  presentEndpointSecret,
  presentNewEndpoint,
} from './webhooks.view.ts'

export interface WebhookPagesOptions {
  readonly accounts: AccountSearch
  readonly webhooks: Webhooks
  readonly audit: OperatorAudit
  readonly rules: EndpointRules
}

const [deliveriesFile, endpointPage] = listPages<WebhookPagesOptions, WebhookDelivery>({
  path: '/webhooks/:id',
  file: '/webhooks/:id/deliveries.csv',
  owns: listed(({ webhooks }) => webhooks.listing),
  columns: DELIVERY_COLUMNS,
  filters: [{ of: 'status', label: 'State', options: DELIVERY_STATES.map((state) => [state, state] as const) }],
  open: openEndpoint,
})

/** Endpoints, their events, their deliveries, and redelivery. */
export const webhookPages = pages<WebhookPagesOptions>([
  ...listPages<WebhookPagesOptions, ListedEndpoint>({
    path: '/webhooks',
    owns: anyOwner,
    menu: 'Webhooks',
    columns: ENDPOINT_COLUMNS,
    filters: [{ of: 'isActive', label: 'State', options: STATES }],
    open: openEndpoints,
  }),
  { route: 'GET /webhooks/new', role: 'admin', run: showNewEndpoint },
  {
    route: 'POST /webhooks',
    role: 'admin',
    form: '/webhooks/new',
    done: { 'webhook.create': { message: 'The endpoint was created.', at: '/webhooks/:object', showsSecret: true } },
    run: createEndpoint,
  },
  deliveriesFile,
  endpointPage,
  {
    route: 'POST /webhooks/:id',
    role: 'admin',
    done: { 'webhook.update': 'The settings of the endpoint were saved.' },
    run: changeEndpoint,
  },
  change({
    route: 'POST /webhooks/:id/test',
    role: 'support',
    action: 'webhook.test',
    message: 'The delivery of a test was scheduled.',
    find: findEndpoint,
    run: async (within, { id }) => ({ delivery: await createWebhooks(within).insertTest(id) }),
  }),
  change({
    route: 'POST /webhooks/:id/delete',
    role: 'admin',
    action: 'webhook.delete',
    message: 'The endpoint was deleted.',
    at: '/webhooks',
    find: findEndpoint,
    run: async (within, { id, url }) => {
      await createWebhooks(within).delete(id)
      return { url }
    },
  }),
  {
    route: 'POST /webhooks/:id/secrets',
    role: 'admin',
    done: { 'webhook.secret.add': { message: 'A new secret was added.', showsSecret: true } },
    run: addSecret,
  },
  change({
    route: 'POST /webhooks/:id/secrets/remove',
    role: 'admin',
    action: 'webhook.secret.remove',
    message: 'The older secret was removed.',
    find: findEndpoint,
    run: async (within, { id }) => {
      await createWebhooks(within).removeSecret(id, null)
    },
  }),
  {
    route: 'POST /webhooks/:id/deliveries/retry',
    role: 'support',
    done: { 'webhook.replay': 'The deliveries were scheduled again.' },
    run: retryDeliveries,
  },
])

function openEndpoints(ctx: DashboardContext, { webhooks, accounts }: WebhookPagesOptions): OpenList<ListedEndpoint> {
  const { forms } = ctx.state
  return {
    title: 'Webhooks',
    caption: 'Webhook endpoints',
    listing: webhooks.listing,
    accounts,
    actions: permittedLink({ forms, path: '/webhooks/new', className: 'button' }, 'New endpoint'),
    empty: html`There are no endpoints yet. ${permittedLink({ forms, path: '/webhooks/new' }, 'Create one', 'Create one')} to notify a server when a generation ends.`,
  }
}

async function showNewEndpoint(ctx: DashboardContext, { accounts }: WebhookPagesOptions): Promise<void> {
  const account = await findAccountField(accounts, queryOf(ctx).get('account'))
  showPage(ctx, { title: 'New endpoint', body: presentNewEndpoint(account, ctx.state.forms) })
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

async function openEndpoint(
  ctx: DashboardContext,
  { webhooks, accounts }: WebhookPagesOptions,
): Promise<OpenList<WebhookDelivery>> {
  const endpoint = await webhooks.getEdition(ctx.params.id)
  const accountName = (await accounts.findNames([endpoint.accountId])).get(endpoint.accountId)
  return {
    ...presentEndpoint({ accountName, endpoint, forms: ctx.state.forms }),
    listing: webhooks.deliveriesOf(endpoint.id),
  }
}

const readSettings = fieldsReader(
  Type.Object({
    url: Type.String({ maxLength: 2000 }),
    isActive: Type.Boolean({ default: false }),
    edition: Type.String({ minLength: 1 }),
  }),
)

async function changeEndpoint(ctx: SignedInContext, options: WebhookPagesOptions): Promise<void> {
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
    await endpointPage.run(ctx, options)
    return
  }
  seeOther(ctx, `/webhooks/${id}`, 'webhook.update')
}

function findEndpoint(ctx: DashboardContext, { webhooks }: WebhookPagesOptions): Promise<WebhookEndpoint> {
  return webhooks.get(ctx.params.id)
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

async function retryDeliveries(ctx: DashboardContext, { webhooks, audit }: WebhookPagesOptions): Promise<void> {
  const { id, accountId } = await webhooks.get(ctx.params.id)
  const deliveries = readChosen(ctx).map(Number)
  if (!deliveries.every(Number.isSafeInteger)) throw invalid('id', 'Choose deliveries of the list.')
  await audit.record(actorOf(ctx), async (within) => {
    for (const delivery of deliveries) await createWebhooks(within).retry(delivery, id)
    const details = { deliveries: deliveries.join(' ') }
    return { act: { action: 'webhook.replay', object: id, accountId, details } }
  })
  seeList(ctx, `/webhooks/${id}`, 'webhook.replay')
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The endpoint is not valid.', { details: [{ path, message }] })
}
