import { type Database, Json, rowType, sql, Timestamp } from '../shared/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const UntoldRow = Type.Object({
  id: Type.Integer(),
  /** A UUID. */
  key: Type.String(),
  accountId: Type.String(),
  shopId: Nullable(Type.String()),
  name: Type.String(),
  insertId: Type.String(),
  anonymousId: Nullable(Type.String()),
  sessionId: Nullable(Type.String()),
  customerId: Nullable(Type.String()),
  properties: Json,
  context: Json,
  happenedAt: Timestamp,
  receivedAt: Timestamp,
})
/** An event that the provider of analytics does not know yet. */
export type UntoldEvent = Static<typeof UntoldRow>

const ids = (events: readonly UntoldEvent[]) =>
  sql.array(
    events.map(({ id }) => id),
    'int8',
  )

export type EventOutbox = ReturnType<typeof createEventOutbox>

/** Events on their way to the provider of analytics. */
export function createEventOutbox(database: Database) {
  return {
    /** Takes the events that have waited longest; nobody else gets them for `leaseSeconds`. */
    claim: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly UntoldEvent[]> =>
      database.any(sql.type(rowType(UntoldRow))`
        update event_outbox set attempts = attempts + 1, available_at = now() + make_interval(secs => ${leaseSeconds})
        where id in (
          select id from event_outbox where dead_at is null and available_at <= now()
          order by available_at, id limit ${limit} for update skip locked)
        returning id, key, account_id as "accountId", shop_id as "shopId", name, insert_id as "insertId",
          anonymous_id as "anonymousId", session_id as "sessionId", customer_id as "customerId", properties, context,
          happened_at as "happenedAt", received_at as "receivedAt"`),

    /** They were told. */
    delete: async (events: readonly UntoldEvent[]): Promise<void> => {
      await database.query(sql.unsafe`delete from event_outbox where id = any(${ids(events)})`)
    },

    /** They are to be told again after so many seconds. */
    release: async (events: readonly UntoldEvent[], { seconds }: { seconds: number }): Promise<void> => {
      await database.query(sql.unsafe`
        update event_outbox set available_at = now() + make_interval(secs => ${seconds}) where id = any(${ids(events)})`)
    },

    /** They are never told. */
    bury: async (events: readonly UntoldEvent[], { reason }: { reason: string }): Promise<void> => {
      await database.query(sql.unsafe`
        update event_outbox set dead_at = now(), reason = ${reason} where id = any(${ids(events)})`)
    },

    /** Deletes events that came before, told or not; several may do so at once. Returns how many. */
    deleteOld: async (before: Date, limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from event_outbox where id in (
          select id from event_outbox where received_at < ${before.toISOString()} limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
