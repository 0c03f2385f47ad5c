import Router from '@koa/router'
import { recordServerEvents } from '../../events/server-events.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import { compileParser } from '../../shared/schema.ts'
import { eraseShop, eraseShopCustomer, type ShopErasureParts } from '../../shop-erasure.ts'
import { isWebhookSignedWith } from '../../shop-signature.ts'
import { createBodyReceiver } from '../../signed-body.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Events } from '../../stores/events.ts'
import type { ShopCustomer } from '../../stores/shop-privacy.ts'
import type { ShopRecord, Shops } from '../../stores/shops.ts'
import { orderEvent } from './order-event.ts'
import { CustomerRequest, Order, ShopRequest } from './shopify-webhooks.schema.ts'

export interface ShopifyWebhookOptions extends ShopErasureParts {
  readonly shops: Pick<Shops, 'findByDomain' | 'update'>
  readonly events: Events
}

/** Shopify gives up on an answer after 5 s. */
const ANSWER_MS = 4000
/** Orders with hundreds of lines are long. */
const MAX_BYTES = 4 * 1024 * 1024

/** POST /webhooks/shopify */
export function shopifyWebhookRoutes(options: ShopifyWebhookOptions): Router<AppState> {
  const router = new Router<AppState>()
  const receiveBody = createBodyReceiver({ maxTextBytes: MAX_BYTES })
  const answerSoon = createSoonAnswers(ANSWER_MS)
  router.post('/webhooks/shopify', async (ctx: AppContext) => {
    const domain = only(ctx, 'x-shopify-shop-domain') ?? ''
    const named = /^[^\s\p{C}]{1,253}$/u.test(domain) ? await options.shops.findByDomain(domain) : null
    const shop = named?.platform === 'shopify' ? named : null
    const body = await receiveBody(ctx.req, { keep: true })
    try {
      const bytes = body.bytes()
      const secrets = shop?.secrets.map(({ secret }) => secret) ?? []
      const isSigned = isWebhookSignedWith(secrets, bytes, only(ctx, 'x-shopify-hmac-sha256') ?? '')
      if (!isSigned || shop === null) throw refusal()
      const webhook = { shop, topic: only(ctx, 'x-shopify-topic') ?? '', payload: parseJson(bytes) }
      const webhookId = readWebhookId(ctx)
      const work = () => handle({ ...webhook, webhookId }, options)
      await answerSoon(`${shop.id} ${webhook.topic} ${body.hash}`, work, ctx.state.log)
    } finally {
      body.release()
    }
    ctx.body = { success: true }
  })
  return router
}

function only(ctx: AppContext, header: string): string | null {
  const sent = ctx.req.headersDistinct[header] ?? []
  return sent.length === 1 ? sent[0] : null
}

/** Null for what Shopify would not write. */
function readWebhookId(ctx: AppContext): string | null {
  const id = only(ctx, 'x-shopify-webhook-id')
  return id !== null && /^[\w-]{1,100}$/.test(id) ? id : null
}

function refusal(): DrapeError {
  return new DrapeError('WEBHOOK_SIGNATURE_INVALID', 'The request is not signed with a secret of the shop.')
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new DrapeError('VALIDATION_FAILED', 'The body is not valid JSON.')
  }
}

/** Work that is still under way after a while goes on; whoever asks for the same again joins it. */
function createSoonAnswers(answerMs: number) {
  const running = new Map<string, Promise<void>>()
  return async (key: string, start: () => Promise<void>, log: Log): Promise<void> => {
    const work = running.get(key) ?? start().finally(() => running.delete(key))
    running.set(key, work)
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      work.catch((error) => log.error({ err: error }, 'a webhook was not done to its end'))
      reject(new DrapeError('SERVICE_UNAVAILABLE', 'This is still being done.', { retryable: true }))
    }, answerMs)
    try {
      await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

interface ReceivedWebhook {
  readonly shop: ShopRecord
  readonly topic: string
  readonly payload: unknown
  readonly webhookId: string | null
}

const parseOrder = compileParser(Order)

async function handle({ shop, topic, payload, webhookId }: ReceivedWebhook, options: ShopifyWebhookOptions) {
  switch (topic) {
    case 'orders/create': {
      const order = parseOrder(payload)
      const insertId = `${shop.id}:${webhookId ?? `order:${order.id}`}`
      await recordServerEvents(options.events, { accountId: shop.accountId, shopId: shop.id }, [
        orderEvent(order, insertId),
      ])
      return
    }
    case 'customers/data_request': {
      const request = parseFor(shop, customerRequest, payload)
      const requestId = String(request.data_request?.id ?? webhookId ?? request.customer.id)
      await options.privacy.insertDataRequest(shop, requestId, customerOf(request))
      return
    }
    case 'customers/redact':
      return eraseShopCustomer(shop, customerOf(parseFor(shop, customerRequest, payload)), options)
    case 'shop/redact':
      parseFor(shop, shopRequest, payload)
      return eraseShop(shop, options)
  }
}

const customerRequest = compileParser(CustomerRequest)
const shopRequest = compileParser(ShopRequest)

/** Neither topic nor shop are signed, so what erases has to say for itself which shop it is about. */
function parseFor<T extends { shop_domain: string }>(
  shop: ShopRecord,
  parse: (payload: unknown) => T,
  payload: unknown,
): T {
  const request = parse(payload)
  if (request.shop_domain.toLowerCase() !== shop.domain) throw refusal()
  return request
}

function customerOf({ customer, orders_to_redact: orders }: CustomerRequest): ShopCustomer {
  return {
    id: customer.id == null ? null : String(customer.id),
    email: customer.email || null,
    orders: (orders ?? []).map(String),
  }
}
