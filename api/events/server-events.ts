import type { Events } from '../stores/events.ts'

/** Something that a server vouches for, such as an order that the shop's platform tells of. */
export interface ServerEvent {
  readonly name: 'order:created'
  /** Unique in the account; told again under the same id it counts once. */
  readonly insertId: string
  readonly happenedAt: Date
  /** The shop platform's id of the customer. */
  readonly customerId: string | null
  readonly customerEmail?: string | null
  /** What the widget called the browser, when the platform passed it on: `anon_…`. */
  readonly anonymousId?: string | null
  readonly properties: Readonly<Record<string, unknown>>
}

/** Stores what servers tell; returns how many of them were new. Throws when the database is away. */
export async function recordServerEvents(
  events: Events,
  { accountId, shopId }: { accountId: string; shopId: string | null },
  told: readonly ServerEvent[],
): Promise<number> {
  const counts = await Promise.all(
    told.map(({ customerId, customerEmail = null, anonymousId = null, ...event }) =>
      events.insert({
        origin: {
          ...{ accountId, shopId, anonymousId, customerId, customerEmail },
          ...{ sessionId: null, customerSigned: true, productId: null, variantId: null, context: {} },
        },
        events: [event],
      }),
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
