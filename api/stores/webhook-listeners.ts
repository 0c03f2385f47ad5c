import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { type Static, Type } from '../shared/schema.ts'
import type { WebhookEvent } from './webhooks.ts'

/** After its last poll. */
const LISTENER_SECONDS = 60
/** Of an account at the same time. */
const MAX_LISTENERS = 5
/** Until a delivery whose outcome is not reported is polled again. */
const LEASE_SECONDS = 30

const PolledRow = Type.Object({
  deliveryId: Type.Integer(),
  eventId: Type.String(),
  type: Type.String(),
  happenedAt: Timestamp,
  data: Json,
})
/** A delivery as a listener polls it. */
export type PolledDelivery = Static<typeof PolledRow>

/** What a listener did with a delivery. */
export interface Outcome {
  readonly deliveryId: number
  /** That the program of the developer answered with; null without an answer. */
  readonly status: number | null
  /** Why there was no answer; null when the listener forwards to no program. */
  readonly error: string | null
}

const ListenerRow = rowType(Type.Object({ expiresAt: Timestamp }))
const Id = rowType(Type.Object({ id: Type.String() }))

export type WebhookListeners = ReturnType<typeof createWebhookListeners>

/** Listeners: receivers of events that poll, for as long as they poll. */
export function createWebhookListeners(database: Database) {
  const expiry = sql.fragment`now() + make_interval(secs => ${LISTENER_SECONDS})`
  return {
    /** A new listener, or the one of this ID; null when the account has as many as it may have. */
    insert: ({ id, accountId, eventTypes }: { id: string; accountId: string; eventTypes: readonly WebhookEvent[] }) =>
      database.transaction(async (transaction) => {
        // One after the other: of two at the same time neither would count the other.
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

    /** Keeps a listener for another while; null when it does not exist, has ended or belongs to another account. */
    renew: (id: string, accountId: string): Promise<{ expiresAt: Date } | null> =>
      database.maybeOne(sql.type(ListenerRow)`
        update webhook_listeners set expires_at = ${expiry}
        where id = ${id} and account_id = ${accountId} and expires_at > now()
        returning expires_at as "expiresAt"`),

    /** Ends a listener. What waits for it is deleted by the next sweep. */
    end: async (id: string, accountId: string): Promise<void> => {
      await database.query(sql.unsafe`
        update webhook_listeners set expires_at = now()
        where id = ${id} and account_id = ${accountId} and expires_at > now()`)
    },

    /** Takes up to `limit` deliveries in the order of the events, until their outcomes are noted or the lease ends. */
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

    /** Writes down what a listener did with its deliveries. Nothing is tried again by itself. */
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

    /** Those of the listeners for which a delivery waits. */
    findWaiting: async (ids: readonly string[]): Promise<readonly string[]> => {
      const rows = await database.any(sql.type(Id)`
        select id from unnest(${sql.array([...ids], 'text')}) as listeners (id)
        where exists (
          select from webhook_deliveries where endpoint_id = listeners.id and status = 'waiting' and next_attempt_at <= now())`)
      return rows.map(({ id }) => id)
    },
  }
}
