import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import { releaseAbandoned } from '../database/product-merge.store.ts'

const Id = rowType(Type.Object({ id: Type.String() }))

/** Days for which an expired link is distinguished from an unknown one. */
const EXPIRED_LINK_DAYS = 30

/** Time for an operator to pass on the data that a shop requested. */
const DATA_REQUEST_DAYS = 90

/** Exceeds the time that any call waits for acceptance. */
const ERASURE_MARK_MINUTES = 60

/** Time for the requester to read the decision, and to object. */
const REMOVAL_DAYS = 90

/** Days that operators can view webhook deliveries. Exceeds the retry schedule. */
const DELIVERY_DAYS = 14

/** Exceeds the duration of an import, with time to read its results. */
const BATCH_DAYS = 7

/** Deletes expired rows. Every method deletes a batch, returns the count and is safe to run concurrently. */
export function createExpiredRows(database: Database) {
  return {
    /** Deletes expired products. Their stored objects expire when no generation needs them. */
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
     * Expires objects that a worker fetched for a product that had been deleted by then. Returns the count. A sweep
     * deletes the objects when no worker can still use them.
     */
    releaseOrphans: async (): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set expires_at = now() + interval '1 hour'
        where kind = 'product' and expires_at is null and key like 'products/%/%/%'
          and not exists (select from products where products.id = split_part(key, '/', 3))`)
      return rowCount
    },

    /** Deletes links that expired so long ago that visitors need no explanation. */
    deleteOldShareLinks: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        with old as (
          select token from share_links where expires_at <= now() - make_interval(days => ${EXPIRED_LINK_DAYS})
          order by expires_at limit ${limit} for update skip locked
        )
        delete from share_links using old where share_links.token = old.token`)
      return rowCount
    },

    /** Deletes erasure marks that no call can encounter any more. Returns the count. */
    deleteOldErasureMarks: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from erased_customers where customer in (
          select customer from erased_customers where erased_at < now() - make_interval(mins => ${ERASURE_MARK_MINUTES})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /** Deletes data requests of shops after the time for passing them on. */
    deleteOldDataRequests: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from data_requests where id in (
          select id from data_requests where created_at < now() - make_interval(days => ${DATA_REQUEST_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /** Deletes removal requests long after their decision. */
    deleteOldRemovals: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from removal_requests where id in (
          select id from removal_requests
          where state in ('ERASED', 'DECLINED') and decided_at < now() - make_interval(days => ${REMOVAL_DAYS})
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

    /** Deletes unpolled deliveries of ended listeners, and listeners without deliveries. Returns the count of both. */
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

    /** Deletes product batches with their results; the products stay. Returns the count. */
    deleteOldProductBatches: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from product_batches where id in (
          select id from product_batches where created_at < now() - make_interval(days => ${BATCH_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
