import type { Database } from '../database/database.ts'
import { createCustomerImages } from './customer-images.ts'
import { createCustomerTraces } from './customer-traces.ts'
import { createDueObjects, type DueObject } from './due-objects.ts'
import { createExpiredRows } from './expired-rows.ts'

export type Retention = ReturnType<typeof createRetention>

/** The end of what is stored. Every method does a part, returns how much or what, and may be run by several at once. */
export function createRetention(database: Database) {
  const dueObjects = createDueObjects(database)
  return {
    ...createExpiredRows(database),
    ...createCustomerTraces(database),
    ...createCustomerImages(database),

    /**
     * Deletes objects that have been past their own time for `graceSeconds` and are not held, and the images that lie in them:
     * bytes first, then rows. Returns them.
     */
    deleteExpiredObjects: (
      { limit, graceSeconds }: { limit: number; graceSeconds: number },
      deleteBytes: (keys: readonly string[]) => Promise<void>,
    ): Promise<readonly DueObject[]> =>
      dueObjects.delete({ ttlSeconds: null, graceSeconds, kinds: [], accounts: [] }, { limit, deleteBytes }),
  }
}
