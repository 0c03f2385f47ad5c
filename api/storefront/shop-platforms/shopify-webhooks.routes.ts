import { parseLargeJson } from '../../http/bodies/bounded-json.ts'
import type { ReceiveBody, ReceivedBody } from '../../http/bodies/signed-body.ts'
import { decodeText } from '../../http/bodies/text-body.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { compileParser } from '../../shared/contract/schema.ts'
import { networkOf } from '../../shared/network/addresses.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import type { RefusedRequests } from '../../shops/refused-requests.ts'
import type { ShopRecord, Shops } from '../../shops/shops.store.ts'
import { isWebhookSignedWith } from '../../shops/signature.ts'
import type { Events } from '../events/events.store.ts'
import { orderEvent } from '../events/order-event.ts'
import { recordServerEvents } from '../events/server-events.ts'
import { eraseShop, eraseShopCustomer, type ShopErasureParts } from '../shops/erasure.ts'
import type { ShopCustomer } from '../shops/shop-privacy.store.ts'
import { CustomerRequest, Order, ShopRequest, Webhook, WebhookAnswer } from './shopify-webhooks.schema.ts'

export interface ShopifyWebhookParts extends ShopErasureParts {
  readonly shops: Pick<Shops, 'findByDomain' | 'update'>
  readonly events: Events
  /** Shared by all routes, so that they share its limits. */
  readonly receiveBody: ReceiveBody
  /** Records the reason of a refusal for the merchant. */
  readonly refused: Pick<RefusedRequests, 'noteWebhook'>
  readonly answerSoon: AnswerSoon
}

/** Time limit: Shopify gives up after 5 s. */
const ANSWER_MS = 4000
/** An order of 4 MB has about 180,000 fields. */
const LARGE_ORDER = { values: 500_000, fields: 500_000 }

export const shopifyWebhookRoutes = [
  route({
    method: 'post',
    path: '/webhooks/shopify',
    id: 'receiveShopifyWebhook',
    tag: 'Webhooks',
    summary: 'Receive a webhook of a shop on Shopify',
    description: `Authenticated by \`X-Shopify-Hmac-Sha256\`, the HMAC of the body with a secret of the shop in
\`X-Shopify-Shop-Domain\`. By \`X-Shopify-Topic\`:

- \`orders/create\` is stored as the event \`order:created\`, once per \`X-Shopify-Webhook-Id\`. A cart attribute
  \`_drape_anonymous_id\` identifies the browser that it came from.
- \`customers/data_request\` records the stored data of the customer, which the operator forwards (\`drape shop requests\`).
- \`customers/redact\` erases the images and the e-mail address of the customer, and unlinks events from the customer.
- \`shop/redact\` deactivates the shop and erases all its shoppers.

Other topics are ignored. Work that exceeds the time limit returns 503 and continues; a retry of Shopify gets the outcome.`,
    access: 'open',
    body: { json: Webhook },
    answers: { 200: { description: 'Processed, or ignored.', schema: WebhookAnswer } },
    errors: ['WEBHOOK_SIGNATURE_INVALID', 'VALIDATION_FAILED', 'SERVICE_UNAVAILABLE'],
    ownCheck: 'body',
    guards: () => [],
    handler: postWebhook,
  }),
]

async function postWebhook(ctx: AppContext, parts: ShopifyWebhookParts): Promise<WebhookAnswer> {
  const domain = only(ctx, 'x-shopify-shop-domain') ?? ''
  const named = /^[^\s\p{C}]{1,253}$/u.test(domain) ? await parts.shops.findByDomain(domain) : null
  const claimed = named?.platform === 'shopify' ? named : null
  const body = await parts.receiveBody(ctx.req, { address: networkOf(ctx.ip), shop: domain.toLowerCase() })
  try {
    const shop = await proveShop(ctx, { domain, claimed, body }, parts)
    body.trust()
    const topic = only(ctx, 'x-shopify-topic') ?? ''
    const payload = await parseLargeJson(decodeText(await body.bytes(), ''), '', LARGE_ORDER)
    const webhookId = readWebhookId(ctx)
    const work = () => handle({ shop, topic, payload, webhookId }, parts)
    await parts.answerSoon(`${shop.id} ${topic} ${body.hash}`, work, ctx.state.log)
  } finally {
    body.release()
  }
  return { success: true }
}

/**
 * The claimed shop. Throws `WEBHOOK_SIGNATURE_INVALID` unless its secret signed the body; the reason is recorded for
 * the merchant.
 */
async function proveShop(
  ctx: AppContext,
  { domain, claimed, body }: { domain: string; claimed: ShopRecord | null; body: ReceivedBody },
  { refused }: ShopifyWebhookParts,
): Promise<ShopRecord> {
  const secrets = claimed?.secrets.map(({ secret }) => secret) ?? []
  // Streamed: an unauthenticated body is never completely in memory.
  const isSigned = await isWebhookSignedWith(secrets, body.read(), only(ctx, 'x-shopify-hmac-sha256') ?? '')
  if (isSigned && claimed !== null) return claimed
  const attempt = { request: ctx.req, network: networkOf(ctx.ip), log: ctx.state.log }
  refused.noteWebhook(attempt, { site: domain, shop: claimed })
  throw refusal()
}

function only(ctx: AppContext, header: string): string | null {
  const sent = ctx.req.headersDistinct[header] ?? []
  return sent.length === 1 ? sent[0] : null
}

/** Null for a value that Shopify would not send. */
function readWebhookId(ctx: AppContext): string | null {
  const id = only(ctx, 'x-shopify-webhook-id')
  return id !== null && /^[\w-]{1,100}$/.test(id) ? id : null
}

function refusal(): DrapeError {
  return new DrapeError('WEBHOOK_SIGNATURE_INVALID', 'The request is not signed with a secret of the shop.')
}

/**
 * Starts work, or joins running work with the same key. Throws a retryable `SERVICE_UNAVAILABLE` when the work takes
 * too long; the work continues.
 */
type AnswerSoon = (key: string, start: () => Promise<void>, log: Log) => Promise<void>

export function createTimedAnswers(): AnswerSoon {
  const running = new Map<string, Promise<void>>()
  return async (key, start, log) => {
    const work = running.get(key) ?? start().finally(() => running.delete(key))
    running.set(key, work)
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      work.catch((error) => log.error({ err: error }, 'Shopify webhook not processed completely'))
      reject(new DrapeError('SERVICE_UNAVAILABLE', 'The action is still running.', { retryable: true }))
    }, ANSWER_MS)
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

async function handle({ shop, topic, payload, webhookId }: ReceivedWebhook, options: ShopifyWebhookParts) {
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

/** Topic and shop are not signed, so the body of an erasing topic must name the shop itself. */
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
