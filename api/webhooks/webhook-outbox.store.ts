import { sql } from '../shared/database/database.ts'

type SqlFragment = ReturnType<typeof sql.fragment>

/**
 * SQL fragment that queues an event for every receiver of the account that subscribes to its type, in the same
 * transaction. `event` selects account_id, id, type, data and happened_at; `to` selects other receivers than the
 * default.
 */
export function insertDeliveries(event: SqlFragment, to: SqlFragment = sql.fragment`table webhook_receivers`) {
  return sql.fragment`
    insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
    select receivers.id, event.id, event.type, event.data, event.happened_at
    from (${event}) as event
    join (${to}) as receivers on receivers.account_id = event.account_id and receivers.event_types ? event.type`
}
