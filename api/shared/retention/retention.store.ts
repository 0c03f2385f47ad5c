import type { Database } from '../database/database.ts'
import { createCustomerImages } from './customer-images.ts'
import { createCustomerProofs } from './customer-proofs.ts'
import { createCustomerTraces } from './customer-traces.ts'
import { createDueObjects, type DueCursor } from './due-objects.ts'
import { createOldErasures } from './erasure-record.store.ts'
import { createExpiredRows } from './expired-rows.ts'
import { createOldRows } from './lifetimes.ts'
import { createOldReviews } from './old-reviews.store.ts'

export type Retention = ReturnType<typeof createRetention>

/**
 * Deletes stored data. Every method deletes a batch, returns the count or the deleted items, and is safe to run
 * concurrently.
 */
export function createRetention(database: Database) {
  const dueObjects = createDueObjects(database)
  return {
    ...createExpiredRows(database),
    ...createOldRows(database),
    ...createCustomerProofs(database),
    ...createOldErasures(database),
    ...createOldReviews(database),
    ...createCustomerTraces(database),
    ...createCustomerImages(database),

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
