import { sql } from '../database/database.ts'

type SqlFragment = ReturnType<typeof sql.fragment>

/** Receivers of an account's events: active endpoints, and polling listeners. */
const receivers = sql.fragment`
  select id, account_id, event_types from webhook_endpoints where is_active
  union all
  select id, account_id, event_types from webhook_listeners where expires_at > now()`

/**
 * SQL fragment that queues an event for every receiver of the account that subscribes to its type, in the same
 * transaction. `event` selects account_id, id, type, data and happened_at; `to` selects other receivers than the
 * default.
 */
export function insertDeliveries(event: SqlFragment, to: SqlFragment = receivers) {
  return sql.fragment`
    insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
    select receivers.id, event.id, event.type, event.data, event.happened_at
    from (${event}) as event
    join (${to}) as receivers on receivers.account_id = event.account_id and receivers.event_types ? event.type`
}

/** Webhook data of ended generations: IDs, status and fields of the call, no personal data. */
export const endedGenerations = sql.fragment`
  select account_id, 'evt_' || substr(id, 5) as id, 'generation.' || lower(status) as type, updated_at as happened_at,
    jsonb_strip_nulls(jsonb_build_object('generationId', id, 'status', status, 'errorCode', error_code, 'errorDetails', error_details,
      'productExternalId', product_external_id, 'shopId', shop_id)) as data
  from ended`
