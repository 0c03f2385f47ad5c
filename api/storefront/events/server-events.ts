import type { Events } from './events.store.ts'

/** An event from a trusted server, e.g. an order that the shop's platform reports. */
export interface ServerEvent {
  readonly name: 'order:created'
  /** Unique in the account; an event with a known ID is ignored. */
  readonly insertId: string
  readonly happenedAt: Date
  /** Platform's ID of the customer. */
  readonly customerId: string | null
  readonly customerEmail?: string | null
  /** The widget's ID of the browser, if the platform passed it on: `anon_…`. */
  readonly anonymousId?: string | null
  readonly properties: Readonly<Record<string, unknown>>
}

export interface Shop {
  readonly accountId: string
  readonly shopId: string | null
}

/**
 * Stores events that servers send for a shop. Returns the count of new events. Throws when the database is unavailable.
 */
export async function recordServerEvents(
  events: Events,
  shop: Shop,
  received: readonly ServerEvent[],
): Promise<number> {
  let stored = 0
  for (const { customerId, customerEmail = null, anonymousId = null, properties, ...event } of received) {
    stored += await events.insert({
      origin: { ...shop, ...NO_PAGE, anonymousId, customerId, customerEmail, customerSigned: true },
      events: [{ ...event, properties: storableJson(properties), productId: null, generationId: null }],
    })
  }
  return stored
}

/** Events of servers have no page and no session. */
const NO_PAGE = { sessionId: null, productId: null, variantId: null, context: {} }

/** Platforms pass on any text; jsonb accepts neither U+0000 nor unpaired surrogates. */
function storableJson(properties: ServerEvent['properties']): string {
  const text = JSON.stringify(properties)
  if (!text.includes('\\u')) return text
  return JSON.stringify(properties, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  )
}
