import type { Events } from '../stores/events.ts'

/** Something that a server vouches for, such as an order that the shop's platform reports. */
export interface ServerEvent {
  readonly name: 'order:created'
  /** Unique in the account; repeated under the same id it counts once. */
  readonly insertId: string
  readonly happenedAt: Date
  /** The shop platform's id of the customer. */
  readonly customerId: string | null
  readonly customerEmail?: string | null
  /** What the widget called the browser, when the platform passed it on: `anon_…`. */
  readonly anonymousId?: string | null
  readonly properties: Readonly<Record<string, unknown>>
}

export interface Shop {
  readonly accountId: string
  readonly shopId: string | null
}

/** Stores the events that servers send for a shop; returns how many of the events were new. Throws when the database is away. */
export async function recordServerEvents(
  events: Events,
  shop: Shop,
  received: readonly ServerEvent[],
): Promise<number> {
  let stored = 0
  for (const { customerId, customerEmail = null, anonymousId = null, properties, ...event } of received) {
    stored += await events.insert({
      origin: { ...shop, ...NOWHERE, anonymousId, customerId, customerEmail, customerSigned: true },
      events: [{ ...event, properties: storableJson(properties), productId: null, generationId: null }],
    })
  }
  return stored
}

/** No page and no session. */
const NOWHERE = { sessionId: null, productId: null, variantId: null, context: {} }

/** Platforms pass on whatever people type; jsonb holds neither U+0000 nor half a surrogate pair. */
function storableJson(properties: ServerEvent['properties']): string {
  const text = JSON.stringify(properties)
  if (!text.includes('\\u')) return text
  return JSON.stringify(properties, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  )
}
