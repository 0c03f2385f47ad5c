import { type DataMap, nonPersonal, personal, type TableMap } from './table-map.ts'

const WHO = {
  anonymous_id: 'ID of the browser',
  session_id: 'ID of the visit',
  customer_id: 'ID at the platform of the shop',
  customer_email: 'e-mail address at the platform of the shop',
}
const WHAT = { properties: 'values of the shop’s page, such as the ID of an order' }
const WHERE = { context: 'address of the page, browser, screen and time zone' }

const about = (purpose: string, lifetime: string): DataMap => ({
  purpose,
  lifetime,
  erasure: 'redaction: only name, time, shop and product stay; waiting events are deleted',
})

/** What shoppers did, as their browsers and shops report it. */
export const EVENT_TABLES: Readonly<Record<string, TableMap>> = {
  events: personal(
    about('statistics of a shop', '`EVENT_RETENTION_DAYS` (90)'),
    { ...WHAT, generation_id: 'ID of the try-on' },
    'received_on batch_id name insert_id product_id happened_at',
  ),
  event_batches: personal(
    about('common data of the events of one request', '`EVENT_RETENTION_DAYS` (90)'),
    { ...WHO, ...WHERE },
    'received_on id account_id shop_id customer_signed product_id variant_id received_at',
  ),
  event_outbox: personal(
    about(
      'events to be forwarded to the analytics provider; empty without `ANALYTICS_URL`',
      'until they are forwarded, at most `EVENT_RETENTION_DAYS` (90)',
    ),
    { ...WHAT, generation_id: 'ID of the try-on' },
    'id key received_on batch_id name insert_id product_id happened_at received_at attempts available_at dead_at reason',
  ),
  event_keys: nonPersonal('key received_on'),
}
