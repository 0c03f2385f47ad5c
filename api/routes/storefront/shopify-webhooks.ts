import Router from '@koa/router'
import { parseLargeJson } from '../../bodies/bounded-json.ts'
import type { ReceiveBody } from '../../bodies/signed-body.ts'
import { recordServerEvents } from '../../events/server-events.ts'
import { networkOf } from '../../shared/addresses.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import { compileParser } from '../../shared/schema.ts'
import { eraseShop, eraseShopCustomer, type ShopErasureParts } from '../../shops/erasure.ts'
import type { RefusedRequests } from '../../shops/refused-requests.ts'
import { isWebhookSignedWith } from '../../shops/signature.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Events } from '../../stores/events.ts'
import type { ShopCustomer } from '../../stores/shop-privacy.ts'
import type { ShopRecord, Shops } from '../../stores/shops.ts'
import { orderEvent } from './order-event.ts'
import { CustomerRequest, Order, ShopRequest } from './shopify-webhooks.schema.ts'

export interface ShopifyWebhookOptions extends ShopErasureParts {
  readonly shops: Pick<Shops, 'findByDomain' | 'update'>
  readonly events: Events
  /** Shared by all routes, so that they share its limits. */
  readonly receiveBody: ReceiveBody
  /** Where the reason of a refusal is recorded for the merchant. */
  readonly refused: Pick<RefusedRequests, 'noteWebhook'>
}

/** Shopify gives up on an answer after 5 s. */
const ANSWER_MS = 4000
/** An order of 4 MB has about 180,000 fields. */
const LARGE_ORDER = { values: 500_000, fields: 500_000 }

/** POST /webhooks/shopify */
export function shopifyWebhookRoutes(options: ShopifyWebhookOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const answerSoon = createSoonAnswers(ANSWER_MS)
  router.post('/webhooks/shopify', async (ctx: AppContext) => {
    const domain = only(ctx, 'x-shopify-shop-domain') ?? ''
    const named = /^[^\s\p{C}]{1,253}$/u.test(domain) ? await options.shops.findByDomain(domain) : null
    const shop = named?.platform === 'shopify' ? named : null
    const body = await options.receiveBody(ctx.req, { address: networkOf(ctx.ip), shop: domain.toLowerCase() })
    try {
      const secrets = shop?.secrets.map(({ secret }) => secret) ?? []
      // Piece by piece: a stranger's body never comes into memory as a whole.
      const isSigned = await isWebhookSignedWith(secrets, body.read(), only(ctx, 'x-shopify-hmac-sha256') ?? '')
      if (!isSigned || shop === null) {
        const attempt = { request: ctx.req, network: networkOf(ctx.ip), log: ctx.state.log }
        options.refused.noteWebhook(attempt, { site: domain, shop })
        throw refusal()
      }
      body.trust()
      const webhook = {
        shop,
        topic: only(ctx, 'x-shopify-topic') ?? '',
        payload: await parseLargeJson((await body.bytes()).toString(), '', LARGE_ORDER),
      }
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

/** Work that is still under way after a while goes on; a repeated request joins it. */
function createSoonAnswers(answerMs: number) {
  const running = new Map<string, Promise<void>>()
  return async (key: string, start: () => Promise<void>, log: Log): Promise<void> => {
    const work = running.get(key) ?? start().finally(() => running.delete(key))
    running.set(key, work)
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      work.catch((error) => log.error({ err: error }, 'Shopify webhook not processed completely'))
      reject(new DrapeError('SERVICE_UNAVAILABLE', 'The action is still running.', { retryable: true }))
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
