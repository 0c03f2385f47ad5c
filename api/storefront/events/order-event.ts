import { browserId } from '../../shared/shopper-id.ts'
import type { Order } from '../shop-platforms/shopify-webhooks.schema.ts'
import type { ServerEvent } from './server-events.ts'

/** Maximum lines of an order in the event; more lines add nothing about try-ons. */
const MAX_LINES = 250
/** Cart attribute in which the widget stores its browser ID, so that an order can be attributed to a try-on. */
const BROWSER_ATTRIBUTE = '_drape_anonymous_id'

/** The event of an order. Identifies the buyer by the platform's ID, without an address. */
export function orderEvent(order: Order, insertId: string): ServerEvent {
  const { customer, line_items: lines, note_attributes: attributes, created_at: createdAt } = order
  const createdMs = Date.parse(createdAt ?? '')
  const browser = attributes?.find(({ name }) => name === BROWSER_ATTRIBUTE)?.value
  return {
    name: 'order:created',
    insertId,
    happenedAt: Number.isNaN(createdMs) ? new Date() : new Date(createdMs),
    customerId: customer?.id == null ? null : String(customer.id),
    anonymousId: typeof browser === 'string' && /^[\w-]{1,100}$/.test(browser) ? browserId(browser) : null,
    properties: {
      order_id: String(order.id),
      name: order.name ?? null,
      currency: order.currency ?? null,
      total: amountOf(order.total_price),
      line_items: (lines ?? []).slice(0, MAX_LINES).map((line) => ({
        product_id: gidOf('Product', line.product_id),
        variant_id: gidOf('ProductVariant', line.variant_id),
        quantity: line.quantity ?? null,
        price: amountOf(line.price),
      })),
    },
  }
}

/** Amounts are strings. */
function amountOf(text: string | number | null | undefined): number | null {
  const amount = text == null || text === '' ? Number.NaN : Number(text)
  return Number.isFinite(amount) ? amount : null
}

function gidOf(kind: string, id: string | number | null | undefined): string | null {
  return id == null ? null : `gid://shopify/${kind}/${id}`
}
