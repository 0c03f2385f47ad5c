import type { Middleware } from 'koa'
import { within } from '../../http/limits/time-limit.ts'
import { parseJsonBody } from '../../http/middleware/body.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError, type FieldProblem } from '../../shared/contract/errors.ts'
import { compileInputCheck, type Static } from '../../shared/contract/schema.ts'
import { browserId, parseShopperId } from '../../shared/shopper-id.ts'
import type { Metrics } from '../../shared/telemetry/metrics.ts'
import { countEvents } from './event-limit.ts'
import {
  EventsAnswer,
  MAX_EVENTS,
  StorefrontBatch,
  StorefrontContext,
  StorefrontEvent,
  TrackingBatch,
  TrackingContext,
  TrackingEvent,
} from './events.schema.ts'
import type { EventBatch, EventOrigin, Events } from './events.store.ts'
import { type BatchShape, type ReadBatch, readBatch } from './read-batch.ts'

export interface EventParts {
  readonly storeEvents: StoreEvents
}

interface EventGuards {
  /** Authenticates requests to `/storefront/v1/events`. */
  readonly fromKeyOrShop: Middleware<AppState>
  /** Authenticates requests to `/public/tracking/events`. */
  readonly eventsFromShop: Middleware<AppState>
  /** Spends a parsed batch from the budgets of its sender. */
  readonly limitEvents: Middleware<AppState>
  readonly metrics: Metrics
}

/** Time limit of the response, so that a shopper's page does not wait longer. */
const ANSWER_MS = 800
/** Maximum number of batches that wait for the database; further ones are refused immediately. */
const MAX_WAITING = 200

const tag = 'Analytics'
const answers = {
  200: {
    description:
      'Whether the whole batch was accepted. Invalid events are rejected, the others are stored, and the message describes the ' +
      'first problem. When the batch itself is invalid or cannot be stored now, nothing is stored and the batch may be sent again.',
    schema: EventsAnswer,
  },
  429: {
    description:
      'Over the budget of the address, the key or the shop: nothing is stored. `Retry-After`: seconds until the batch may be sent again.',
    schema: EventsAnswer,
  },
}

export const eventRoutes = [
  route({
    method: 'post',
    path: '/storefront/v1/events',
    id: 'sendEvents',
    tag,
    summary: 'Send events of a shopper',
    description:
      'From an app, a headless shop or a server with the publishable key; from a storefront through the proxy of the shop.',
    headers: {
      'X-Service-Anonymous-Id': 'The anonymous_id of the context. A proxy need not forward it.',
      'X-Service-Customer-Id': 'The shop platform’s id of the customer. Only read behind the publishable key.',
      'X-Service-Customer-Email': 'The customer’s e-mail address. Only read behind the publishable key.',
    },
    access: 'events',
    body: { json: StorefrontBatch },
    answers,
    errors: [],
    ownCheck: 'body',
    guards: ({ fromKeyOrShop, limitEvents, metrics }: EventGuards) => [
      answerAnyway(metrics),
      fromKeyOrShop,
      parseJsonBody(),
      limitEvents,
    ],
    handler: postEvents,
  }),
  route({
    method: 'post',
    path: '/public/tracking/events',
    id: 'trackEvents',
    tag,
    summary: 'Send events of a shopper in the widget',
    description: 'For the widget behind the proxy of a shop.',
    access: 'shop',
    body: { json: TrackingBatch },
    answers,
    errors: [],
    ownCheck: 'body',
    guards: ({ eventsFromShop, limitEvents, metrics }: EventGuards) => [
      answerAnyway(metrics),
      eventsFromShop,
      parseJsonBody(),
      limitEvents,
    ],
    handler: postTracking,
  }),
]

const STOREFRONT: BatchShape<Static<typeof StorefrontContext>> = {
  checkEvent: compileInputCheck(StorefrontEvent),
  checkContext: compileInputCheck(StorefrontContext),
  contextFields: Object.keys(StorefrontContext.properties),
  maxEvents: MAX_EVENTS,
}

async function postEvents(
  ctx: AppContext,
  { storeEvents }: EventParts,
  { body }: { readonly body: unknown },
): Promise<EventsAnswer> {
  const batch = readBatch(body, STOREFRONT)
  const {
    anonymous_id: anonymousId,
    session_id: sessionId,
    product_id: productId,
    variant_id: variantId,
  } = batch.context
  const named = ctx.get('x-service-anonymous-id')
  // A proxy need not forward the header.
  if (named !== anonymousId && (named !== '' || ctx.state.shop === null)) {
    throw new DrapeError(
      'VALIDATION_FAILED',
      named === ''
        ? 'The header X-Service-Anonymous-Id is missing: it must equal context.anonymous_id.'
        : 'context.anonymous_id must equal X-Service-Anonymous-Id.',
    )
  }
  return storeEvents(ctx, batch, { anonymousId, sessionId, productId, variantId, ...customerOf(ctx) })
}

/** The customer, as signed by the proxy or claimed by the caller with a publishable key. */
function customerOf(ctx: AppContext): Pick<EventOrigin, 'customerId' | 'customerEmail' | 'customerSigned'> {
  const { shop, shopper } = ctx.state
  if (shop !== null) {
    return { customerId: shopper.customerId, customerEmail: null, customerSigned: shopper.customerId !== null }
  }
  const claim = (name: string, maxLength: number) => {
    const text = ctx.get(name).trim()
    return text === '' || text.length > maxLength || parseShopperId(text) !== null ? null : text
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

async function postTracking(
  ctx: AppContext,
  { storeEvents }: EventParts,
  { body }: { readonly body: unknown },
): Promise<EventsAnswer> {
  const batch = readBatch(body, TRACKING)
  return storeEvents(ctx, batch, {
    anonymousId: browserId(batch.context.service_client_id),
    sessionId: batch.context.$session_id,
    productId: batch.context.service_product_id ?? null,
    variantId: batch.context.service_variant_id ?? null,
    ...customerOf(ctx),
  })
}

type StoreEvents = (ctx: AppContext, batch: ReadBatch<object>, origin: Origin) => Promise<EventsAnswer>
type Origin = Omit<EventOrigin, 'accountId' | 'shopId' | 'context'>

/** Stores the valid events of a batch. */
export function createEventStore({
  events,
  metrics,
}: {
  readonly events: Pick<Events, 'insert'>
  readonly metrics: Metrics
}): StoreEvents {
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
      throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many batches are waiting. Send the batch again in 1 second.')
    }
    metrics.events.inc({ outcome: 'refused' }, refused)
    const place = { accountId: account.id, shopId: shop?.id ?? null, context: { ...context } }
    // Events that exceed the time limit are stored nevertheless.
    if (good.length > 0) await within(ANSWER_MS, store({ origin: { ...place, ...origin }, events: good }))
    return problem === null ? { success: true } : { success: false, message: sentenceOf(problem) }
  }
}

/**
 * Internal errors and invalid events are not reported as errors to the sending page; only unauthenticated senders get an
 * error. Senders over their budget get the status 429, because their next batch must wait.
 */
function answerAnyway(metrics: Metrics): Middleware<AppState> {
  return async function anyway(ctx, next) {
    try {
      await next()
    } catch (error) {
      const status = error instanceof DrapeError ? ERRORS[error.code].status : 500
      if (status === 401) throw error
      if (status >= 500) ctx.state.log.warn({ err: error }, 'storing events failed')
      else metrics.events.inc({ outcome: 'refused' }, countEvents(ctx.state.body))
      if (error instanceof DrapeError && status === 429) ctx.state.errorCode = error.code
      ctx.status = status === 429 ? 429 : 200
      ctx.body = {
        success: false,
        message: status >= 500 ? 'Events cannot be stored right now. Send the batch again.' : messageOf(error),
      }
    }
  }
}

function messageOf(error: unknown): string {
  const { details, message } = error as DrapeError
  return Array.isArray(details) ? sentenceOf(details[0]) : message
}

function sentenceOf({ path, message }: FieldProblem): string {
  return `${path === '' ? 'The body' : path} ${message}.`
}
