import { type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import type { WebhookEvent } from './webhooks.store.ts'

/** Lifetime of a listener after its last poll. */
const LISTENER_SECONDS = 60
/** Maximum concurrent listeners per account. */
const MAX_LISTENERS = 5
/** Seconds after which a delivery without a reported outcome is polled again. */
const LEASE_SECONDS = 30

const PolledRow = Type.Object({
  deliveryId: Type.Integer(),
  eventId: Type.String(),
  type: Type.String(),
  happenedAt: Timestamp,
  data: Json,
})
/** A delivery as returned to a polling listener. */
export type PolledDelivery = Static<typeof PolledRow>

/** Reported outcome of a delivery. */
export interface Outcome {
  readonly deliveryId: number
  /** Status that the developer's program returned; null without a response. */
  readonly status: number | null
  /** Reason why there was no response; null when the listener does not forward. */
  readonly error: string | null
}

const ListenerRow = rowType(Type.Object({ expiresAt: Timestamp }))
const Id = rowType(Type.Object({ id: Type.String() }))

export type WebhookListeners = ReturnType<typeof createWebhookListeners>

/** Store of listeners: receivers of events that poll, and that expire when they stop polling. */
export function createWebhookListeners(database: Database) {
  const expiry = sql.fragment`now() + make_interval(secs => ${LISTENER_SECONDS})`
  return {
    /** Creates a listener, or returns the listener with this ID; null when the account has reached its limit. */
    insert: ({ id, accountId, eventTypes }: { id: string; accountId: string; eventTypes: readonly WebhookEvent[] }) =>
      database.transaction(async (transaction) => {
        // Locks the account: two concurrent inserts would not count each other.
        await transaction.query(sql.unsafe`select from accounts where id = ${accountId} for no key update`)
        return transaction.maybeOne(sql.type(ListenerRow)`
          insert into webhook_listeners (id, account_id, event_types, expires_at)
          select ${id}, ${accountId}, ${sql.jsonb([...eventTypes])}, ${expiry}
          where (
            select count(*) from webhook_listeners
            where account_id = ${accountId} and expires_at > now() and id <> ${id}
          ) < ${MAX_LISTENERS}
          on conflict (id) do update set expires_at = excluded.expires_at
          returning expires_at as "expiresAt"`)
      }),

    /** Extends a listener; null when it does not exist, has ended or belongs to another account. */
    renew: (id: string, accountId: string): Promise<{ expiresAt: Date } | null> =>
      database.maybeOne(sql.type(ListenerRow)`
        update webhook_listeners set expires_at = ${expiry}
        where id = ${id} and account_id = ${accountId} and expires_at > now()
        returning expires_at as "expiresAt"`),

    /** Ends a listener. The next sweep deletes its deliveries. */
    end: async (id: string, accountId: string): Promise<void> => {
      await database.query(sql.unsafe`
        update webhook_listeners set expires_at = now()
        where id = ${id} and account_id = ${accountId} and expires_at > now()`)
    },

    /**
     * Claims up to `limit` deliveries in the order of the events, until their outcomes are recorded or the lease ends.
     */
    claim: async (id: string, limit: number): Promise<PolledDelivery[]> => {
      const claimed = await database.any(sql.type(rowType(PolledRow))`
        update webhook_deliveries set next_attempt_at = now() + make_interval(secs => ${LEASE_SECONDS})
        where id in (
          select id from webhook_deliveries
          where endpoint_id = ${id} and status = 'waiting' and next_attempt_at <= now()
          order by id limit ${limit} for update skip locked
        )
        returning id as "deliveryId", event_id as "eventId", type, happened_at as "happenedAt", data`)
      return [...claimed].sort((a, b) => a.deliveryId - b.deliveryId)
    },

    /** Records the outcomes of a listener's deliveries. Failed deliveries are not retried. */
    noteOutcomes: async (id: string, outcomes: readonly Outcome[]): Promise<void> => {
      if (outcomes.length === 0) return
      await database.query(sql.unsafe`
        update webhook_deliveries
        set attempts = attempts + 1, last_attempt_at = now(), last_status = outcome.status, last_error = outcome.error,
          status = outcome.result, ended_at = now(),
          data = case when type = 'customer.erased' and outcome.result = 'delivered' then null else data end
        from (
          select "deliveryId" as id, status, error,
            case when status between 200 and 299 or (status is null and error is null) then 'delivered' else 'failed' end as result
          from jsonb_to_recordset(${sql.jsonb(outcomes.map((outcome) => ({ ...outcome })))}) as given ("deliveryId" bigint, status integer, error text)
        ) as outcome
        where webhook_deliveries.id = outcome.id and endpoint_id = ${id} and webhook_deliveries.status = 'waiting'`)
    },

    /** The listeners among `ids` that have a waiting delivery. */
    findWaiting: async (ids: readonly string[]): Promise<readonly string[]> => {
      const rows = await database.any(sql.type(Id)`
        select id from unnest(${sql.array([...ids], 'text')}) as listeners (id)
        where exists (
          select from webhook_deliveries where endpoint_id = listeners.id and status = 'waiting' and next_attempt_at <= now())`)
      return rows.map(({ id }) => id)
    },
  }
}
