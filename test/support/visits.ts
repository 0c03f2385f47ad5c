import type { Database } from '../../api/shared/database/database.ts'
import { createEvents } from '../../api/storefront/events/events.store.ts'

const MINUTE_MS = 60_000

/** Stores the events of a visitor of a shop, one per minute, the last one now. */
export async function storeVisit(
  database: Database,
  { accountId, shopId, visitor }: { accountId: string; shopId: string | null; visitor: string },
  names: readonly string[],
): Promise<void> {
  const receivedAt = new Date()
  await createEvents(database).insert({
    origin: {
      accountId,
      shopId,
      anonymousId: visitor,
      sessionId: 's',
      customerId: null,
      customerEmail: null,
      customerSigned: false,
      productId: null,
      variantId: null,
      context: {},
    },
    events: names.map((name, i) => ({
      name,
      insertId: `${visitor} ${i}`,
      happenedAt: new Date(receivedAt.getTime() - (names.length - i) * MINUTE_MS),
      properties: '{}',
      productId: null,
      generationId: null,
    })),
    receivedAt,
  })
}
