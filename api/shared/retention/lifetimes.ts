import { type Database, sql } from '../database/database.ts'
import { IDEMPOTENCY_HOURS } from '../database/idempotency.store.ts'

/** Days for which a request can keep its images. Without a wish of the request, the days of the account apply. */
export const IMAGE_DAYS = [1, 3, 7] as const
/** Days after its last use at which a product without an external ID expires. */
export const ONE_SHOT_PRODUCT_DAYS = 7
/** Days after its last use at which a product created by a try-on call expires. */
export const INLINE_PRODUCT_DAYS = 15

type SqlFragment = ReturnType<typeof sql.fragment>

interface OldRows {
  readonly table: string
  readonly key: readonly string[]
  /** Time from which the age of a row counts. */
  readonly since: SqlFragment
  /** Age at which nothing needs the row any more. */
  readonly seconds: number
  readonly only?: SqlFragment
}

const HOUR = 3600
const DAY = 24 * HOUR
const CREATED = sql.fragment`created_at`

/** Until when rows are stored that end by their age alone. */
export const OLD_ROWS = {
  idempotencyKeys: {
    table: 'idempotency_keys',
    key: ['account_id', 'route', 'key'],
    since: CREATED,
    seconds: IDEMPOTENCY_HOURS * HOUR,
  },
  // Until then an expired link is distinguished from an unknown one.
  shareLinks: { table: 'share_links', key: ['token'], since: sql.fragment`expires_at`, seconds: 30 * DAY },
  // Their timestamps are not accepted any more.
  proxyNonces: { table: 'proxy_nonces', key: ['shop_id', 'nonce'], since: sql.fragment`expires_at`, seconds: 0 },
  // An operator has time to pass on the data that a shop requested.
  dataRequests: { table: 'data_requests', key: ['id'], since: CREATED, seconds: 90 * DAY },
  // Exceeds the retry schedule.
  webhookDeliveries: { table: 'webhook_deliveries', key: ['id'], since: CREATED, seconds: 14 * DAY },
  // Exceeds the time that any call waits for acceptance.
  erasureMarks: { table: 'erased_customers', key: ['customer'], since: sql.fragment`erased_at`, seconds: HOUR },
  // Exceeds the duration of an import, with time to read its results. The products stay.
  productBatches: { table: 'product_batches', key: ['id'], since: CREATED, seconds: 7 * DAY },
  // Operators see the requests of an account until then.
  requests: { table: 'request_log', key: ['account_id', 'is_refused', 'slot'], since: CREATED, seconds: 7 * DAY },
  // A consent is kept as proof for 3 years, until claims about the photo are time-barred; who gave one is asked again.
  consents: {
    table: 'consents',
    key: ['id'],
    since: sql.fragment`coalesce(withdrawn_at, given_at)`,
    seconds: 1096 * DAY,
  },
  // The requester has time to read the decision, and to object.
  removals: {
    table: 'removal_requests',
    key: ['id'],
    since: sql.fragment`decided_at`,
    seconds: 90 * DAY,
    only: sql.fragment`state in ('ERASED', 'DECLINED')`,
  },
} as const satisfies Readonly<Record<string, OldRows>>

export type OldRowsName = keyof typeof OLD_ROWS

/** Deletes a batch of rows that nothing needs any more, and returns the count. Safe to run concurrently. */
export function createOldRows(database: Database) {
  return {
    deleteOld: async (name: OldRowsName, limit: number): Promise<number> => {
      const { key, since, seconds, only = sql.fragment`true`, ...rows }: OldRows = OLD_ROWS[name]
      const table = sql.identifier([rows.table])
      const columns = sql.join(
        key.map((column) => sql.identifier([column])),
        sql.fragment`, `,
      )
      const { rowCount } = await database.query(sql.unsafe`
        delete from ${table} where (${columns}) in (
          select ${columns} from ${table} where ${only} and ${since} <= now() - make_interval(secs => ${seconds})
          order by ${since} limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
