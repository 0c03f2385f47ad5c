import { sql } from '../database/database.ts'

/**
 * A part of a statement that puts what happened on its way to every endpoint of the account that wants to know: told when, and
 * only when, the statement happens. `event` selects account_id, id, type, data and happened_at of each.
 */
export function insertDeliveries(event: ReturnType<typeof sql.fragment>) {
  return sql.fragment`
    insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
    select webhook_endpoints.id, event.id, event.type, event.data, event.happened_at
    from (${event}) as event
    join webhook_endpoints on webhook_endpoints.account_id = event.account_id and is_active and event_types ? event.type`
}

/** The webhook data of generations that have ended: ids, status and fields of the call, nothing about persons. */
export const endedGenerations = sql.fragment`
  select account_id, 'evt_' || substr(id, 5) as id, 'generation.' || lower(status) as type, updated_at as happened_at,
    jsonb_strip_nulls(jsonb_build_object('generationId', id, 'status', status, 'errorCode', error_code, 'errorDetails', error_details,
      'productExternalId', product_external_id, 'shopId', shop_id)) as data
  from ended`
