import { Type } from '../shared/contract/schema.ts'
import { TEST_ENGINE } from '../shared/contract/test-mode.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { type TryOnJob, TryOnJobSchema } from '../shared/generations/generation.ts'

const JobRow = rowType(Type.Object({ payload: TryOnJobSchema, waitedSeconds: Type.Number() }))

export type TestMode = ReturnType<typeof createTestMode>

/** Runs try-ons with test keys, and deletes their data. */
export function createTestMode(database: Database) {
  const testAccounts = sql.fragment`(select id from accounts where test_of is not null)`
  const isOld = sql.fragment`created_at < now() - interval '1 day'`
  return {
    /** Claims due try-ons. The relay recovers a claimed try-on that does not start soon. */
    claim: (limit: number): Promise<readonly { payload: TryOnJob; waitedSeconds: number }[]> =>
      database.any(sql.type(JobRow)`
        update outbox set dispatched_at = now()
        where generation_id in (
          select generation_id from outbox
          where engine_name = ${TEST_ENGINE} and dispatched_at is null and available_at <= now()
          order by available_at limit ${limit} for update skip locked
        )
        returning payload, extract(epoch from now() - created_at)::float8 as "waitedSeconds"`),

    /** Returns a try-on to the queue until its delay has passed. */
    postpone: async (generationId: string, seconds: number): Promise<void> => {
      await database.query(sql.unsafe`
        update outbox set dispatched_at = null, available_at = now() + make_interval(secs => ${seconds})
        where generation_id = ${generationId}`)
    },

    /**
     * Deletes rows of test accounts older than 1 day, a batch of each kind; images expire on their own. Returns the
     * count.
     */
    deleteOld: async (limit: number): Promise<number> => {
      const counts = await Promise.all(
        [
          sql.unsafe`delete from generations where id in (
            select id from generations where account_id in ${testAccounts} and ${isOld} and status in ('COMPLETED', 'FAILED')
            limit ${limit} for update skip locked)`,
          // A sweep deletes expired products and their images.
          sql.unsafe`update products set expires_at = now(), valid_for_days = 1 where id in (
            select id from products where account_id in ${testAccounts} and ${isOld} and coalesce(expires_at > now(), true)
            limit ${limit} for update skip locked)`,
          sql.unsafe`delete from product_batches where id in (
            select id from product_batches where account_id in ${testAccounts} and ${isOld}
            limit ${limit} for update skip locked)`,
          sql.unsafe`delete from webhook_deliveries where id in (
            select id from webhook_deliveries where ${isOld} and endpoint_id in (
              select id from webhook_endpoints where account_id in ${testAccounts}
              union all select id from webhook_listeners where account_id in ${testAccounts})
            limit ${limit} for update skip locked)`,
        ].map((statement) => database.query(statement)),
      )
      return counts.reduce((sum, { rowCount }) => sum + rowCount, 0)
    },
  }
}
