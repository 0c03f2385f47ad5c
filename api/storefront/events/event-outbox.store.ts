import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../../shared/database/database.ts'

const PendingRow = Type.Object({
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
/** Event to forward to the analytics provider. */
export type PendingEvent = Static<typeof PendingRow>

const ids = (events: readonly PendingEvent[]) =>
  sql.array(
    events.map(({ id }) => id),
    'int8',
  )

export type EventOutbox = ReturnType<typeof createEventOutbox>

/** Outbox of events for the analytics provider. */
export function createEventOutbox(database: Database) {
  return {
    /** Claims the oldest waiting events. No other forwarder receives them for `leaseSeconds`. */
    claim: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly PendingEvent[]> =>
      database.any(sql.type(rowType(PendingRow))`
        with claimed as (
          update event_outbox set attempts = attempts + 1, available_at = now() + make_interval(secs => ${leaseSeconds})
          where id in (
            select id from event_outbox where dead_at is null and available_at <= now()
            order by available_at, id limit ${limit} for update skip locked)
          returning *
        )
        -- A batch that is past its retention takes its events with it.
        select claimed.id, key, account_id as "accountId", shop_id as "shopId", name, insert_id as "insertId",
          anonymous_id as "anonymousId", session_id as "sessionId", customer_id as "customerId", properties, context,
          happened_at as "happenedAt", claimed.received_at as "receivedAt"
        from claimed join event_batches as batch on batch.received_on = claimed.received_on and batch.id = claimed.batch_id`),

    /** Deletes forwarded events. */
    delete: async (events: readonly PendingEvent[]): Promise<void> => {
      await database.query(sql.unsafe`delete from event_outbox where id = any(${ids(events)})`)
    },

    /** Makes events claimable again after `seconds`. */
    release: async (events: readonly PendingEvent[], { seconds }: { seconds: number }): Promise<void> => {
      await database.query(sql.unsafe`
        update event_outbox set available_at = now() + make_interval(secs => ${seconds}) where id = any(${ids(events)})`)
    },

    /** Parks events: they are kept but not forwarded again. */
    park: async (events: readonly PendingEvent[], { reason }: { reason: string }): Promise<void> => {
      await database.query(sql.unsafe`
        update event_outbox set dead_at = now(), reason = ${reason} where id = any(${ids(events)})`)
    },

    /** Deletes events received before a date, forwarded or not. Safe to run concurrently. Returns the count. */
    deleteOld: async (before: Date, limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from event_outbox where id in (
          select id from event_outbox where received_at < ${before.toISOString()} limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
