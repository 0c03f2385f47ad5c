import Router from '@koa/router'
import type { Middleware } from 'koa'
import { type BatchShape, type ReadBatch, readBatch } from '../../events/read-batch.ts'
import { within } from '../../limits/time-limit.ts'
import { parseJsonBody } from '../../middleware/body.ts'
import { HTTP_STATUS } from '../../middleware/errors.ts'
import { DrapeError, type FieldProblem } from '../../shared/errors.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { compileInputCheck, type Static } from '../../shared/schema.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { EventBatch, EventOrigin, Events } from '../../stores/events.ts'
import { MAX_EVENTS, StorefrontContext, StorefrontEvent, TrackingContext, TrackingEvent } from './events.schema.ts'

export interface EventsOptions {
  /** What proves a request at `/storefront/v1/events`. */
  readonly keyOrProxy: Middleware<AppState>
  /** What proves one at `/public/tracking/events`. */
  readonly proxy: Middleware<AppState>
  /** Spends a parsed batch from the budgets of its sender. */
  readonly limit: Middleware<AppState>
  readonly events: Pick<Events, 'insert'>
  readonly metrics: Metrics
}

/** A shopper's page does not wait longer for us. */
const ANSWER_MS = 800
/** How many batches may wait for the database; further ones are refused at once. */
const MAX_WAITING = 200

/** POST /storefront/v1/events, POST /public/tracking/events: 200 to every sender within its budget, whatever goes wrong. */
export function eventRoutes(options: EventsOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const keep = createKeeper(options)
  const guarded = (proof: Middleware<AppState>) =>
    [answerAnyway(options), proof, parseJsonBody(), options.limit] as never[]
  router.post('/storefront/v1/events', ...guarded(options.keyOrProxy), (ctx: AppContext) => postEvents(ctx, keep))
  router.post('/public/tracking/events', ...guarded(options.proxy), (ctx: AppContext) => postTracking(ctx, keep))
  return router
}

const STOREFRONT: BatchShape<Static<typeof StorefrontContext>> = {
  checkEvent: compileInputCheck(StorefrontEvent),
  checkContext: compileInputCheck(StorefrontContext),
  contextFields: Object.keys(StorefrontContext.properties),
  maxEvents: MAX_EVENTS,
}

async function postEvents(ctx: AppContext, keep: Keep): Promise<void> {
  const batch = readBatch(ctx.state.body, STOREFRONT)
  const {
    anonymous_id: anonymousId,
    session_id: sessionId,
    product_id: productId,
    variant_id: variantId,
  } = batch.context
  const named = ctx.get('x-service-anonymous-id')
  // A proxy need not pass the header on.
  if (named !== anonymousId && (named !== '' || ctx.state.shop === null)) {
    throw new DrapeError(
      'VALIDATION_FAILED',
      named === ''
        ? 'The header X-Service-Anonymous-Id is missing: it must equal context.anonymous_id.'
        : 'context.anonymous_id must equal X-Service-Anonymous-Id.',
    )
  }
  await keep(ctx, batch, { anonymousId, sessionId, productId, variantId, ...customerOf(ctx) })
}

/** The customer as the proxy signed, or as the caller with a publishable key says. */
function customerOf(ctx: AppContext): Pick<EventOrigin, 'customerId' | 'customerEmail' | 'customerSigned'> {
  const { shop, shopper } = ctx.state
  if (shop !== null) {
    return { customerId: shopper.customerId, customerEmail: null, customerSigned: shopper.customerId !== null }
  }
  const claim = (name: string, maxLength: number) => {
    const text = ctx.get(name).trim()
    return text === '' || text.length > maxLength ? null : text
  }
  return {
    customerId: claim('x-service-customer-id', 255),
    customerEmail: claim('x-service-customer-email', 320),
    customerSigned: false,
  }
}

const TRACKING: BatchShape<Static<typeof TrackingContext>> = {
  checkEvent: compileInputCheck(TrackingEvent),
  checkContext: compileInputCheck(TrackingContext),
  contextFields: Object.keys(TrackingContext.properties),
  maxEvents: MAX_EVENTS,
}

async function postTracking(ctx: AppContext, keep: Keep): Promise<void> {
  const batch = readBatch(ctx.state.body, TRACKING)
  await keep(ctx, batch, {
    anonymousId: batch.context.service_client_id,
    sessionId: batch.context.$session_id,
    productId: batch.context.service_product_id,
    variantId: batch.context.service_variant_id,
    ...customerOf(ctx),
  })
}

type Keep = (ctx: AppContext, batch: ReadBatch<object>, origin: Origin) => Promise<void>
type Origin = Omit<EventOrigin, 'accountId' | 'shopId' | 'context'>

/** Stores what is good of a batch and answers. */
function createKeeper({ events, metrics }: EventsOptions): Keep {
  let waiting = 0

  async function store(batch: EventBatch): Promise<void> {
    waiting++
    try {
      const stored = await events.insert(batch)
      metrics.events.inc({ outcome: 'accepted' }, stored)
      metrics.events.inc({ outcome: 'duplicate' }, batch.events.length - stored)
    } finally {
      waiting--
    }
  }

  return async (ctx, { events: good, refused, problem, context }, origin) => {
    const { account, shop } = ctx.state
    if (waiting >= MAX_WAITING) {
      ctx.set('Retry-After', '1')
      throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many events at once. Send the batch again in a second.')
    }
    metrics.events.inc({ outcome: 'refused' }, refused)
    const place = { accountId: account.id, shopId: shop?.id ?? null, context: { ...context } }
    // What comes too late for its answer is stored all the same.
    if (good.length > 0) await within(ANSWER_MS, store({ origin: { ...place, ...origin }, events: good }))
    ctx.body = problem === null ? { success: true } : { success: false, message: sentenceOf(problem) }
  }
}

/** Faults and bad events are no errors of the page that sends them; only a sender without proof or beyond its budget gets one. */
function answerAnyway({ metrics }: EventsOptions): Middleware<AppState> {
  return async function anyway(ctx, next) {
    try {
      await next()
    } catch (error) {
      const status = error instanceof DrapeError ? HTTP_STATUS[error.code] : 500
      if (status === 429) metrics.events.inc({ outcome: 'refused' }, countEvents(ctx.state.body))
      if (status === 401 || status === 429) throw error
      if (status >= 500) ctx.state.log.warn({ err: error }, 'events not stored')
      else metrics.events.inc({ outcome: 'refused' }, countEvents(ctx.state.body))
      ctx.status = 200
      ctx.body = {
        success: false,
        message: status >= 500 ? 'Events cannot be stored at the moment. Send the batch again.' : messageOf(error),
      }
    }
  }
}

function countEvents(body: unknown): number {
  const { events } = (body ?? {}) as { events?: unknown }
  return Array.isArray(events) ? events.length : 1
}

function messageOf(error: unknown): string {
  const { details, message } = error as DrapeError
  return Array.isArray(details) ? sentenceOf(details[0]) : message
}

function sentenceOf({ path, message }: FieldProblem): string {
  return `${path === '' ? 'The body' : path} ${message}.`
}
