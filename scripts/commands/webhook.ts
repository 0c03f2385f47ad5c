import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { Type } from '../../api/shared/contract/schema.ts'
import { readConfig, SHARED_VARIABLES, splitList } from '../../api/shared/process/config.ts'
import { generateWebhookSecret, isWebhookSecret } from '../../api/shared/signing/webhook-signature.ts'
import { endpointUrlProblem } from '../../api/webhooks/endpoint-url.ts'
import {
  createWebhooks,
  WEBHOOK_EVENTS,
  type WebhookEndpoint,
  type WebhookEvent,
} from '../../api/webhooks/webhooks.store.ts'
import type { DatabaseCommand } from './command.ts'
import { list, mandatory, option, readSwitch, required, UsageError, wholeNumber } from './options.ts'
import { secretOptions } from './secret-options.ts'

const ENDPOINT = mandatory('--endpoint <id>', 'endpoint, endpoint_…')
const EVENTS = list('--events <type,type>', `only these events: ${WEBHOOK_EVENTS.join(', ')}`)
const DELIVERIES = '100'

/** Operator commands for webhooks. Secrets are never shown again. */
export const webhookCommands: Readonly<Record<string, DatabaseCommand>> = {
  'webhook create': {
    summary: 'send events to a URL (Standard Webhooks)',
    options: [
      mandatory('--account <id>', 'account, acc_…'),
      mandatory('--url <url>', 'URL that receives the events'),
      EVENTS,
      ...secretOptions('secret', 'signing secret, whsec_…; default: generate a secret, and print it once'),
    ],
    effect: 'changes',
    inDatabase: async (database, { account, url, events, secret }) => {
      const signing = readSecret(secret) ?? generateWebhookSecret()
      const created = await createWebhooks(database).insert({
        accountId: required(account, 'account'),
        url: readUrl(required(url, 'url')),
        eventTypes: readEvents(events) ?? WEBHOOK_EVENTS,
        secret: signing,
      })
      return { ...present(created), ...(secret === undefined && { secret: signing }) }
    },
  },
  'webhook update': {
    summary: 'change an endpoint',
    options: [
      ENDPOINT,
      option('--url <url>', 'URL that receives the events'),
      EVENTS,
      option('--active <true|false>', 'whether events are sent'),
    ],
    effect: 'changes',
    inDatabase: async (database, { endpoint, url, events, active }) =>
      present(
        await createWebhooks(database).update(required(endpoint, 'endpoint'), {
          url: url === undefined ? undefined : readUrl(required(url, 'url')),
          eventTypes: readEvents(events),
          isActive: readSwitch(active, 'active'),
        }),
      ),
  },
  'webhook secret add': {
    summary: 'add a second secret for rotation',
    options: [
      ENDPOINT,
      ...secretOptions('secret', 'signing secret, whsec_…; default: generate a secret, and print it once'),
    ],
    effect: 'changes',
    inDatabase: async (database, { endpoint, secret }) => {
      const added = readSecret(secret) ?? generateWebhookSecret()
      const changed = await createWebhooks(database).addSecret(required(endpoint, 'endpoint'), added)
      return { ...present(changed), ...(secret === undefined && { secret: added }) }
    },
  },
  'webhook secret remove': {
    summary: 'remove a secret',
    options: [ENDPOINT, ...secretOptions('secret', 'the secret; default: the older of two')],
    effect: 'changes',
    inDatabase: async (database, { endpoint, secret = null }) =>
      present(await createWebhooks(database).removeSecret(required(endpoint, 'endpoint'), secret)),
  },
  'webhook deliveries': {
    summary: 'list the deliveries of the last 14 days, newest first',
    options: [
      ENDPOINT,
      option('--failed', 'only those that failed'),
      option('--limit <n>', `max number of deliveries (default: ${DELIVERIES})`),
    ],
    effect: 'reads',
    inDatabase: async (database, { endpoint, failed, limit = DELIVERIES }) => {
      const webhooks = createWebhooks(database)
      const { id } = await webhooks.get(required(endpoint, 'endpoint'))
      const most = wholeNumber(limit, 'limit', 1)
      return {
        deliveries: await webhooks.listDeliveries({ endpointId: id, failed: failed !== undefined, limit: most }),
      }
    },
  },
  'webhook list': {
    summary: 'list endpoints, without their secrets',
    options: [option('--account <id>', 'only of this account')],
    effect: 'reads',
    inDatabase: async (database, { account }) => {
      const id = account === undefined ? null : (await createAccounts(database).get(account)).id
      return { endpoints: (await createWebhooks(database).list(id)).map(present) }
    },
  },
  'webhook delete': {
    summary: 'delete an endpoint and its pending deliveries',
    options: [ENDPOINT],
    effect: 'changes',
    inDatabase: async (database, { endpoint }) => {
      await createWebhooks(database).delete(required(endpoint, 'endpoint'))
      return { deleted: true }
    },
  },
}

function readUrl(text: string): string {
  const { FETCH_ALLOW_CIDRS, FETCH_ALLOW_PORTS } = readConfig(Type.Object(FETCH_VARIABLES), process.env)
  const why = endpointUrlProblem(text, {
    allowCidrs: splitList(FETCH_ALLOW_CIDRS),
    allowPorts: splitList(FETCH_ALLOW_PORTS).map(Number),
  })
  if (why !== null) throw new UsageError(`--url cannot receive webhooks: ${why}`)
  return text
}

const { FETCH_ALLOW_CIDRS, FETCH_ALLOW_PORTS } = SHARED_VARIABLES
const FETCH_VARIABLES = { FETCH_ALLOW_CIDRS, FETCH_ALLOW_PORTS }

/** Parses the event types of `--events`. */
export function readEvents(text: string | undefined): WebhookEvent[] | undefined {
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
