import type { Middleware } from 'koa'
import { reading, writing } from '../http/guards.ts'
import { type Guards, route } from '../http/route.ts'
import type { AppContext, AppState } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { ListenerWatch } from './listener-watch.ts'
import { testDataOf } from './test-events.ts'
import type { WebhookEvents } from './webhook-events.store.ts'
import type { PolledDelivery, WebhookListeners } from './webhook-listeners.store.ts'
import {
  Listener,
  ListenerBody,
  MAX_POLLED,
  PollBody,
  PolledEvents,
  QueuedEvent,
  TestEventBody,
} from './webhooks.schema.ts'
import { WEBHOOK_EVENTS } from './webhooks.store.ts'

export interface WebhookParts {
  /** Guards of polls, which have a separate rate limit. */
  readonly polling: Guards
  /** Throws when the key of the request has been revoked meanwhile. */
  readonly authenticate: Middleware<AppState>
  readonly listeners: WebhookListeners
  readonly webhookEvents: WebhookEvents
  readonly listenerWatch: ListenerWatch
}

const tag = 'Webhooks'
const scopes = ['webhooks'] as const

export const webhookRoutes = [
  route({
    method: 'post',
    path: '/tryon/v1/webhooks/listeners',
    id: 'createListener',
    scopes,
    tag,
    summary: 'Listen to the events of the account',
    description:
      'For development; used by `drape listen`. A listener receives events while it polls, and ends 60 seconds after its last poll. At most 5 listeners per account.',
    body: { json: ListenerBody },
    repeatable: true,
    answers: {
      201: {
        description: 'The listener now receives events.',
        schema: Listener,
        next: { pollListener: { id: '$response.body#/listenerId' } },
      },
    },
    errors: ['VALIDATION_FAILED', 'QUOTA_EXCEEDED'],
    guards: writing,
    handler: postListener,
  }),
  route({
    method: 'post',
    path: '/tryon/v1/webhooks/listeners/{id}/poll',
    id: 'pollListener',
    scopes,
    tag,
    summary: 'Fetch the next events of a listener',
    description:
      'Reports the outcomes of the previous events and waits for new ones. At most 300 polls per minute and account.',
    parameters: { id: 'The listenerId.' },
    body: { json: PollBody },
    answers: { 200: { description: 'Events, at least once each.', schema: PolledEvents } },
    errors: ['VALIDATION_FAILED', 'LISTENER_NOT_FOUND'],
    guards: ({ polling }: Pick<WebhookParts, 'polling'>) => polling,
    handler: postPoll,
  }),
  route({
    method: 'delete',
    path: '/tryon/v1/webhooks/listeners/{id}',
    id: 'deleteListener',
    scopes,
    tag,
    summary: 'End a listener',
    description: 'The listener receives no further events. A listener also ends 60 seconds after its last poll.',
    parameters: { id: 'The listenerId.' },
    answers: { 204: { description: 'Ended, or unknown.' } },
    errors: [],
    guards: reading,
    handler: deleteListener,
  }),
  route({
    method: 'post',
    path: '/tryon/v1/webhooks/events',
    id: 'sendTestEvent',
    scopes,
    tag,
    summary: 'Send a test event',
    description:
      'The event is delivered and signed like all others, with `test: true` in its data. The objects that the event names do not exist.',
    body: { json: TestEventBody },
    repeatable: true,
    answers: { 201: { description: 'Queued.', schema: QueuedEvent } },
    errors: ['VALIDATION_FAILED'],
    guards: writing,
    handler: postEvent,
  }),
  route({
    method: 'post',
    path: '/tryon/v1/webhooks/events/{id}/resend',
    id: 'resendEvent',
    scopes,
    tag,
    summary: 'Redeliver an event',
    description:
      'Redelivers an event to all active receivers that got it and to the listeners that subscribe to its type, or repeats one delivery. Events are stored for 14 days; `customer.erased` until it is delivered.',
    parameters: { id: 'The webhook-id of the event, evt_…, or the number of a delivery.' },
    answers: { 200: { description: 'Queued with the same webhook-id.', schema: QueuedEvent } },
    errors: ['EVENT_NOT_FOUND'],
    guards: reading,
    handler: postResend,
  }),
]

async function postListener(
  { state }: AppContext,
  { listeners }: WebhookParts,
  { body: { events = [...WEBHOOK_EVENTS] } }: { readonly body: ListenerBody },
): Promise<Listener> {
  const id = `listener_${state.resourceId}`
  const listener = await listeners.insert({ id, accountId: state.account.id, eventTypes: events })
  if (listener === null) {
    throw new DrapeError(
      'QUOTA_EXCEEDED',
      'The account already has 5 listeners. End a listener, or wait for 60 seconds.',
    )
  }
  return { listenerId: id, events, expiresAt: listener.expiresAt.toISOString() }
}

interface OneListener {
  readonly params: { readonly id: string }
}

async function postPoll(
  ctx: AppContext,
  parts: WebhookParts,
  { params: { id }, body: { outcomes, waitSeconds } }: OneListener & { readonly body: PollBody },
): Promise<PolledEvents | undefined> {
  const { listeners } = parts
  const { account } = ctx.state
  const { expiresAt } = await renew({ id, accountId: account.id }, parts)
  await listeners.noteOutcomes(
    id,
    outcomes.map(({ deliveryId, status = null, error = null }) => ({ deliveryId, status, error })),
  )
  const waiting = await listeners.claim(id, MAX_POLLED)
  const claimed = waiting.length > 0 || waitSeconds === 0 ? waiting : await claimLater(ctx, parts, { id, waitSeconds })
  const events = claimed?.map((delivery) => present(delivery, account.id))
  return events && { events, expiresAt: expiresAt.toISOString() }
}

/**
 * Waits for deliveries up to the time limit; undefined when the caller disconnects, so that the next poll gets them.
 */
async function claimLater(
  ctx: AppContext,
  { listeners, listenerWatch, authenticate }: WebhookParts,
  { id, waitSeconds }: { readonly id: string; readonly waitSeconds: number },
): Promise<PolledDelivery[] | undefined> {
  const disconnected = new AbortController()
  ctx.res.once('close', () => disconnected.abort())
  await listenerWatch.untilWaiting(id, { ms: waitSeconds * 1000, signal: disconnected.signal })
  if (disconnected.signal.aborted) return undefined
  await authenticate(ctx, async () => {})
  return listeners.claim(id, MAX_POLLED)
}

async function renew(
  { id, accountId }: { readonly id: string; readonly accountId: string },
  { listeners }: WebhookParts,
): Promise<{ expiresAt: Date }> {
  const listener = ID.test(id) ? await listeners.renew(id, accountId) : null
  if (listener === null) throw new DrapeError('LISTENER_NOT_FOUND', 'The listener does not exist or has ended.')
  return listener
}

const ID = /^listener_[\w-]{1,100}$/

function present({ deliveryId, eventId, type, happenedAt, data }: PolledDelivery, accountId: string) {
  return { deliveryId, eventId, type, timestamp: happenedAt.toISOString(), data: { accountId, ...(data as object) } }
}

async function deleteListener(
  { state }: AppContext,
  { listeners }: WebhookParts,
  { params: { id } }: OneListener,
): Promise<void> {
  if (ID.test(id)) await listeners.end(id, state.account.id)
}

async function postEvent(
  { state: { resourceId, account } }: AppContext,
  { webhookEvents }: WebhookParts,
  { body: { type, endpointId } }: { readonly body: TestEventBody },
): Promise<QueuedEvent> {
  const eventId = `evt_test_${resourceId}`
  const data = testDataOf(type, resourceId)
  const deliveries = await webhookEvents.insertTest({
    eventId,
    accountId: account.id,
    type,
    data,
    endpointId: endpointId ?? null,
  })
  return { eventId, deliveries }
}

async function postResend(
  { state }: AppContext,
  { webhookEvents }: WebhookParts,
  { params }: { readonly params: { readonly id: string } },
): Promise<QueuedEvent> {
  const named = readEventId(params.id)
  const sent = named && (await webhookEvents.resend(state.account.id, named))
  if (!sent) {
    throw new DrapeError(
      'EVENT_NOT_FOUND',
      'The event does not exist. Events with at least one receiver are stored for 14 days.',
    )
  }
  return sent
}

/** Null when the ID has neither format. */
function readEventId(text: string): { eventId: string } | { deliveryId: number } | null {
  if (/^evt_[\w-]{1,100}$/.test(text)) return { eventId: text }
  return /^[1-9]\d{0,14}$/.test(text) ? { deliveryId: Number(text) } : null
}
