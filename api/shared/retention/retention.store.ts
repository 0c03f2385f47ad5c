import { type Database, sql } from '../database/database.ts'
import { createCustomerImages } from './customer-images.ts'
import { createCustomerProofs } from './customer-proofs.ts'
import { createCustomerTraces } from './customer-traces.ts'
import { createDueObjects, type DueCursor } from './due-objects.ts'
import { createOldErasures } from './erasures.store.ts'
import { createExpiredRows } from './expired-rows.ts'
import { createOldReviews } from './old-reviews.store.ts'

/** How long operators see the requests of an account. */
const REQUEST_DAYS = 7

export type Retention = ReturnType<typeof createRetention>

/**
 * Deletes stored data. Every method deletes a batch, returns the count or the deleted items, and is safe to run
 * concurrently.
 */
export function createRetention(database: Database) {
  const dueObjects = createDueObjects(database)
  return {
    ...createExpiredRows(database),
    ...createCustomerProofs(database),
    ...createOldErasures(database),
    ...createOldReviews(database),
    ...createCustomerTraces(database),
    ...createCustomerImages(database),

    /** Deletes old entries of the request log. Returns the count. */
    deleteOldRequests: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        with old as (
          select account_id, is_refused, slot from request_log
          where created_at < now() - make_interval(days => ${REQUEST_DAYS})
          order by created_at limit ${limit} for update skip locked
        )
        delete from request_log using old where request_log.account_id = old.account_id
          and request_log.is_refused = old.is_refused and request_log.slot = old.slot`)
      return rowCount
    },

    /**
     * Deletes objects that expired more than `graceSeconds` ago and are not held, and their images: bytes first, then
     * rows. Returns them, and the count of those that the storage refused to delete, and the end of the batch.
     */
    deleteExpiredObjects: (
      { graceSeconds, ...batch }: { limit: number; after?: DueCursor | null; youngest?: boolean; graceSeconds: number },
      deleteBytes: (keys: readonly string[]) => Promise<void>,
    ) => dueObjects.delete({ ttlSeconds: null, graceSeconds, kinds: [], accounts: [] }, { ...batch, deleteBytes }),
  }
}
