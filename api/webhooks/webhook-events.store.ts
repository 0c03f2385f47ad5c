import { Nullable, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { insertDeliveries } from './webhook-outbox.store.ts'

const EventRow = rowType(
  Type.Object({ eventId: Nullable(Type.String()), known: Type.Integer(), deliveries: Type.Integer() }),
)

export type WebhookEvents = ReturnType<typeof createWebhookEvents>

/** Test events and redelivery for developers. Every query is limited to one account. */
export function createWebhookEvents(database: Database) {
  return {
    /**
     * Queues a test event for the account's listeners, or for one of its endpoints, if they subscribe to its type;
     * `webhook.test` reaches every receiver. Returns the count of receivers.
     */
    insertTest: async ({ eventId, accountId, type, data, endpointId }: TestEvent): Promise<number> => {
      const asksFor = sql.fragment`case when ${type} = 'webhook.test' then '["webhook.test"]' else event_types end as event_types`
      const listeners = sql.fragment`
        select id, account_id, ${asksFor} from webhook_listeners where account_id = ${accountId} and expires_at > now()`
      const endpoint = sql.fragment`
        select id, account_id, ${asksFor} from webhook_endpoints where id = ${endpointId} and is_active`
      const event = sql.fragment`
        select ${accountId}::text as account_id, ${eventId}::text as id, ${type}::text as type, now_ms() as happened_at,
          ${sql.jsonb({ ...data })} as data`
      const { rowCount } = await database.query(
        sql.unsafe`${insertDeliveries(event, endpointId === null ? listeners : endpoint)}`,
      )
      return rowCount
    },

    /**
     * Queues again one delivery, or an event for all its receivers and for the listeners that subscribe to its type.
     * Only active receivers count. Returns the event ID and the count of deliveries, 0 when none can be repeated; null
     * when the account has no such event or delivery.
     */
    resend: async (accountId: string, named: { eventId: string } | { deliveryId: number }) => {
      const isNamed =
        'eventId' in named ? sql.fragment`event_id = ${named.eventId}` : sql.fragment`known.id = ${named.deliveryId}`
      const { eventId, known, deliveries } = await database.one(sql.type(EventRow)`
        with owned as (
          select id, is_active from webhook_endpoints where account_id = ${accountId}
          union all
          select id, expires_at > now() from webhook_listeners where account_id = ${accountId}
        ), known as (
          select known.*, is_active from webhook_deliveries as known join owned on owned.id = endpoint_id where ${isNamed}
        ), rested as (
          update webhook_endpoints set failing_since = null, failures = 0, paused_until = null
          from known where webhook_endpoints.id = endpoint_id and known.is_active and known.data is not null
        ), repeated as (
          update webhook_deliveries set status = 'waiting', attempts = 0, next_attempt_at = now(), ended_at = null
          from known where webhook_deliveries.id = known.id and known.is_active and webhook_deliveries.data is not null
          returning webhook_deliveries.id
        ), copied as (
          insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
          select webhook_listeners.id, event_id, type, data, happened_at
          from (select * from known where data is not null order by id limit 1) as event
          join webhook_listeners on account_id = ${accountId} and expires_at > now()
            and (event_types ? type or type = 'webhook.test')
          where ${'eventId' in named} and webhook_listeners.id not in (select endpoint_id from known)
          returning id
        )
        select (select min(event_id) from known) as "eventId", (select count(*) from known)::int as known,
          ((select count(*) from repeated) + (select count(*) from copied))::int as deliveries`)
      return eventId === null || known === 0 ? null : { eventId, deliveries }
    },
  }
}

export interface TestEvent {
  readonly eventId: string
  readonly accountId: string
  readonly type: string
  readonly data: Readonly<Record<string, string | number | boolean>>
  /** Null: the listeners of the account. */
  readonly endpointId: string | null
}
