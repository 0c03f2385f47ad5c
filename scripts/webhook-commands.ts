import { readConfig, SHARED_VARIABLES, splitList } from '../api/shared/config.ts'
import { Type } from '../api/shared/schema.ts'
import { createWebhooks, WEBHOOK_EVENTS, type WebhookEndpoint, type WebhookEvent } from '../api/stores/webhooks.ts'
import { whyNoEndpoint } from '../api/webhooks/endpoint-url.ts'
import { generateWebhookSecret, isWebhookSecret } from '../api/webhooks/signature.ts'
import { type Command, readSwitch, required, UsageError, wholeNumber } from './command-options.ts'

export const WEBHOOK_USAGE = `\
  webhook create --account ID --url U                   tell this address, in the way of Standard Webhooks, of what happens
      [--events a,b]                                    of these alone: ${WEBHOOK_EVENTS.join(', ')}
      [--secret whsec_…]                                what signs; made when it is not given, and shown once
  webhook update --endpoint ID [--url U] [--events a,b] [--active true|false]
  webhook secret add --endpoint ID [--secret whsec_…]   one more secret beside the one that it replaces
  webhook secret remove --endpoint ID [--secret S]      end that secret, or the older one
  webhook test --endpoint ID                            send it a webhook.test
  webhook deliveries --endpoint ID [--failed]           what it was told in the last 14 days, and what came of it, newest first
      [--limit N]
  webhook retry --delivery ID                           tell it once more
  webhook list [--account ID]                           every endpoint, without its secrets
  webhook delete --endpoint ID                          with all that it was to be told`

export const WEBHOOK_OPTIONS = ['url', 'events', 'endpoint', 'delivery', 'limit']
export const WEBHOOK_SWITCHES = ['failed']

const DELIVERIES = '100'

/** What an operator does with webhooks. Their secrets are never shown again. */
export const webhookCommands: Readonly<Record<string, Command>> = {
  'webhook create': async (database, { account, url, events, secret }) => {
    const signing = readSecret(secret) ?? generateWebhookSecret()
    const created = await createWebhooks(database).insert({
      accountId: required(account, 'account'),
      url: readUrl(required(url, 'url')),
      eventTypes: readEvents(events) ?? WEBHOOK_EVENTS,
      secret: signing,
    })
    return { ...present(created), ...(secret === undefined && { secret: signing }) }
  },

  'webhook update': async (database, { endpoint, url, events, active }) =>
    present(
      await createWebhooks(database).update(required(endpoint, 'endpoint'), {
        url: url === undefined ? undefined : readUrl(required(url, 'url')),
        eventTypes: readEvents(events),
        isActive: readSwitch(active, 'active'),
      }),
    ),

  'webhook secret add': async (database, { endpoint, secret }) => {
    const added = readSecret(secret) ?? generateWebhookSecret()
    const changed = await createWebhooks(database).addSecret(required(endpoint, 'endpoint'), added)
    return { ...present(changed), ...(secret === undefined && { secret: added }) }
  },

  'webhook secret remove': async (database, { endpoint, secret = null }) =>
    present(await createWebhooks(database).removeSecret(required(endpoint, 'endpoint'), secret)),

  'webhook test': async (database, { endpoint }) => ({
    delivery: await createWebhooks(database).insertTest(required(endpoint, 'endpoint')),
  }),

  'webhook deliveries': async (database, { endpoint, failed, limit = DELIVERIES }) => {
    const webhooks = createWebhooks(database)
    const { id } = await webhooks.get(required(endpoint, 'endpoint'))
    const most = wholeNumber(limit, 'limit', 1)
    return { deliveries: await webhooks.listDeliveries({ endpointId: id, failed: failed !== undefined, limit: most }) }
  },

  'webhook retry': async (database, { delivery }) => {
    const id = wholeNumber(required(delivery, 'delivery'), 'delivery', 1)
    await createWebhooks(database).retry(id)
    return { delivery: id }
  },

  'webhook list': async (database, { account = null }) => ({
    endpoints: (await createWebhooks(database).list(account)).map(present),
  }),

  'webhook delete': async (database, { endpoint }) => {
    await createWebhooks(database).delete(required(endpoint, 'endpoint'))
    return { deleted: true }
  },
}

function readUrl(text: string): string {
  const { FETCH_ALLOW_CIDRS, FETCH_ALLOW_PORTS } = readConfig(Type.Object(FETCH_VARIABLES), process.env)
  const why = whyNoEndpoint(text, {
    allowCidrs: splitList(FETCH_ALLOW_CIDRS),
    allowPorts: splitList(FETCH_ALLOW_PORTS).map(Number),
  })
  if (why !== null) throw new UsageError(`--url cannot be told anything: ${why}`)
  return text
}

const { FETCH_ALLOW_CIDRS, FETCH_ALLOW_PORTS } = SHARED_VARIABLES
const FETCH_VARIABLES = { FETCH_ALLOW_CIDRS, FETCH_ALLOW_PORTS }

function readEvents(text: string | undefined): WebhookEvent[] | undefined {
  if (text === undefined) return undefined
  const names = splitList(required(text, 'events'))
  const isKnown = (name: string): name is WebhookEvent => WEBHOOK_EVENTS.some((event) => event === name)
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined || names.length === 0)
    throw new UsageError(`--events must be of ${WEBHOOK_EVENTS.join(', ')}${unknown ? `, not ${unknown}` : ''}`)
  return [...new Set(names.filter(isKnown))]
}

function readSecret(text: string | undefined): string | undefined {
  if (text === undefined || isWebhookSecret(text)) return text
  throw new UsageError('--secret must be whsec_ and 24 to 64 bytes in base64')
}

function present({ secrets, ...endpoint }: WebhookEndpoint): Record<string, unknown> {
  return { ...endpoint, secretsSince: secrets.map(({ createdAt }) => createdAt) }
}
