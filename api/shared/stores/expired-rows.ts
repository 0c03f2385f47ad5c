import { type Database, rowType, sql } from '../database/database.ts'
import { Type } from '../schema.ts'
import { releaseAbandoned } from './product-merge.ts'

const Id = rowType(Type.Object({ id: Type.String() }))

/** How long a link that has ended is distinguished from one that never existed. */
const LINK_MEMORY_DAYS = 30

/** For an operator to pass on what a shop asked for. */
const DATA_REQUEST_DAYS = 90

/** Longer than any call waits to be accepted. */
const ERASURE_MARK_MINUTES = 60

/** How long operators can see webhook deliveries. Longer than deliveries are tried. */
const DELIVERY_DAYS = 14

/** Longer than an import takes, with time to read its results. */
const BATCH_DAYS = 7

/** Deletes what is past its time. Every method does a part, returns its count, and may be run by several at once. */
export function createExpiredRows(database: Database) {
  return {
    /** Deletes products that are past their time; what is stored for them follows when no generation needs it any more. */
    deleteExpiredProducts: async (limit: number): Promise<number> => {
      const rows = await database.any(sql.type(Id)`
        with expired as (
          select id from products where expires_at <= now() order by expires_at limit ${limit} for update skip locked
        ), abandoned as (
          delete from products using expired where products.id = expired.id
          returning products.id, products.account_id, products.images
        ), ${releaseAbandoned([])}
        select id from abandoned`)
      return rows.length
    },

    /**
     * Dates what a worker fetched for a product that was gone by then. Returns how much; it is swept when no worker can be at
     * work on it any more.
     */
    releaseOrphans: async (): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set expires_at = now() + interval '1 hour'
        where kind = 'product' and expires_at is null and key like 'products/%/%/%'
          and not exists (select from products where products.id = split_part(key, '/', 3))`)
      return rowCount
    },

    /** Deletes links that ended so long ago that their visitors need no explanation any more. */
    deleteOldShareLinks: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        with old as (
          select token from share_links where expires_at <= now() - make_interval(days => ${LINK_MEMORY_DAYS})
          order by expires_at limit ${limit} for update skip locked
        )
        delete from share_links using old where share_links.token = old.token`)
      return rowCount
    },

    /** Deletes marks that no call can meet any more. Returns how many. */
    deleteOldErasureMarks: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from erased_customers where customer in (
          select customer from erased_customers where erased_at < now() - make_interval(mins => ${ERASURE_MARK_MINUTES})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /** Deletes what was written down of customers for whom their shop asked, when there was time enough to pass it on. */
    deleteOldDataRequests: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from data_requests where id in (
          select id from data_requests where created_at < now() - make_interval(days => ${DATA_REQUEST_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /** Deletes old webhook deliveries, failed ones too. */
    deleteOldWebhookDeliveries: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from webhook_deliveries where id in (
          select id from webhook_deliveries where created_at < now() - make_interval(days => ${DELIVERY_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /**
     * Deletes what listeners that have ended did not poll, and listeners whose deliveries are gone. Returns the count of both.
     */
    deleteEndedListeners: async (limit: number): Promise<number> => {
      const deliveries = await database.query(sql.unsafe`
        delete from webhook_deliveries where id in (
          select webhook_deliveries.id from webhook_listeners
          join webhook_deliveries on endpoint_id = webhook_listeners.id and status = 'waiting'
          where expires_at < now()
          limit ${limit} for update of webhook_deliveries skip locked)`)
      const listeners = await database.query(sql.unsafe`
        delete from webhook_listeners where id in (
          select id from webhook_listeners where expires_at < now() - make_interval(days => ${DELIVERY_DAYS})
          limit ${limit} for update skip locked)`)
      return deliveries.rowCount + listeners.rowCount
    },

    /** Deletes batches of products with their results; the products stay. Returns the count. */
    deleteOldProductBatches: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from product_batches where id in (
          select id from product_batches where created_at < now() - make_interval(days => ${BATCH_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
