import Router from '@koa/router'
import type { Middleware } from 'koa'
import { DrapeError } from '../../shared/errors.ts'
import { compileParser } from '../../shared/schema.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { WebhookEvents } from '../../stores/webhook-events.ts'
import type { PolledDelivery, WebhookListeners } from '../../stores/webhook-listeners.ts'
import { WEBHOOK_EVENTS } from '../../stores/webhooks.ts'
import type { ListenerWatch } from '../../webhooks/listener-watch.ts'
import { testDataOf } from '../../webhooks/test-events.ts'
import { ListenerBody, MAX_POLLED, PollBody, TestEventBody } from './webhooks.schema.ts'

export interface WebhooksOptions {
  readonly reading: readonly Middleware<AppState>[]
  readonly writing: readonly Middleware<AppState>[]
  /** The guards of polls, which have a rate limit of their own. */
  readonly polling: readonly Middleware<AppState>[]
  /** Throws when the key of the request has been revoked meanwhile. */
  readonly authenticate: Middleware<AppState>
  readonly listeners: WebhookListeners
  readonly events: WebhookEvents
  readonly watch: ListenerWatch
}

/** POST /webhooks/listeners, their polls and their end; POST /webhooks/events, POST /webhooks/events/:id/resend */
export function webhookRoutes(options: WebhooksOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1/webhooks', sensitive: true })
  const [reading, writing, polling] = [options.reading, options.writing, options.polling] as never[][]
  router.post('/listeners', ...writing, (ctx: AppContext) => postListener(ctx, options))
  router.post('/listeners/:id/poll', ...polling, (ctx: AppContext) => postPoll(ctx, options))
  router.delete('/listeners/:id', ...reading, (ctx: AppContext) => deleteListener(ctx, options))
  router.post('/events', ...writing, (ctx: AppContext) => postEvent(ctx, options))
  router.post('/events/:id/resend', ...reading, (ctx: AppContext) => postResend(ctx, options))
  return router
}

const parseListener = compileParser(ListenerBody)
const parsePoll = compileParser(PollBody)
const parseTestEvent = compileParser(TestEventBody)

async function postListener(ctx: AppContext, { listeners }: WebhooksOptions): Promise<void> {
  const { events = [...WEBHOOK_EVENTS] } = parseListener(ctx.state.body)
  const id = `listener_${ctx.state.resourceId}`
  const listener = await listeners.insert({ id, accountId: ctx.state.account.id, eventTypes: events })
  if (listener === null) {
    throw new DrapeError('QUOTA_EXCEEDED', 'The account has 5 listeners already. End one, or wait for 60 seconds.')
  }
  ctx.status = 201
  ctx.body = { listenerId: id, events, expiresAt: listener.expiresAt.toISOString() }
}

async function postPoll(ctx: AppContext, options: WebhooksOptions): Promise<void> {
  const { listeners, watch, authenticate } = options
  const { outcomes, waitSeconds } = parsePoll(ctx.state.body)
  const { id } = ctx.params
  const { account } = ctx.state
  const { expiresAt } = await renew(ctx, options)
  await listeners.noteOutcomes(
    id,
    outcomes.map(({ deliveryId, status = null, error = null }) => ({ deliveryId, status, error })),
  )
  let claimed = await listeners.claim(id, MAX_POLLED)
  if (claimed.length === 0 && waitSeconds > 0) {
    const gone = new AbortController()
    ctx.res.once('close', () => gone.abort())
    await watch.untilWaiting(id, { ms: waitSeconds * 1000, signal: gone.signal })
    // What the caller would not get is left to the next poll.
    if (gone.signal.aborted) return
    await authenticate(ctx as never, async () => {})
    claimed = await listeners.claim(id, MAX_POLLED)
  }
  const events = claimed.map((delivery) => present(delivery, account.id))
  ctx.body = { events, expiresAt: expiresAt.toISOString() }
}

async function renew(ctx: AppContext, { listeners }: WebhooksOptions): Promise<{ expiresAt: Date }> {
  const { id } = ctx.params
  const listener = ID.test(id) ? await listeners.renew(id, ctx.state.account.id) : null
  if (listener === null) throw new DrapeError('LISTENER_NOT_FOUND', 'The listener does not exist or has ended.')
  return listener
}

const ID = /^listener_[\w-]{1,100}$/

function present({ deliveryId, eventId, type, happenedAt, data }: PolledDelivery, accountId: string) {
  return { deliveryId, eventId, type, timestamp: happenedAt.toISOString(), data: { accountId, ...(data as object) } }
}

async function deleteListener(ctx: AppContext, { listeners }: WebhooksOptions): Promise<void> {
  if (ID.test(ctx.params.id)) await listeners.end(ctx.params.id, ctx.state.account.id)
  ctx.status = 204
}

async function postEvent(ctx: AppContext, { events }: WebhooksOptions): Promise<void> {
  const { type, endpointId } = parseTestEvent(ctx.state.body)
  const { resourceId, account } = ctx.state
  const eventId = `evt_test_${resourceId}`
  const data = testDataOf(type, resourceId)
  const deliveries = await events.insertTest({
    eventId,
    accountId: account.id,
    type,
    data,
    endpointId: endpointId ?? null,
  })
  ctx.status = 201
  ctx.body = { eventId, deliveries }
}

async function postResend(ctx: AppContext, { events }: WebhooksOptions): Promise<void> {
  const named = readEventId(ctx.params.id)
  const sent = named && (await events.resend(ctx.state.account.id, named))
  if (!sent) {
    throw new DrapeError(
      'EVENT_NOT_FOUND',
      'The event does not exist: events are stored for 14 days, if anything receives them.',
    )
  }
  ctx.body = sent
}

/** Null when nothing has such an ID. */
function readEventId(text: string): { eventId: string } | { deliveryId: number } | null {
  if (/^evt_[\w-]{1,100}$/.test(text)) return { eventId: text }
  return /^[1-9]\d{0,14}$/.test(text) ? { deliveryId: Number(text) } : null
}
