import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import { releaseAbandoned } from '../database/product-merge.store.ts'
import { OLD_ROWS } from './lifetimes.ts'

const Id = rowType(Type.Object({ id: Type.String() }))

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

    /** Deletes unpolled deliveries of ended listeners, and listeners whose deliveries operators can view no longer. Returns the count of both. */
    deleteEndedListeners: async (limit: number): Promise<number> => {
      const deliveries = await database.query(sql.unsafe`
        delete from webhook_deliveries where id in (
          select webhook_deliveries.id from webhook_listeners
          join webhook_deliveries on endpoint_id = webhook_listeners.id and status = 'waiting'
          where expires_at < now()
          limit ${limit} for update of webhook_deliveries skip locked)`)
      const listeners = await database.query(sql.unsafe`
        delete from webhook_listeners where id in (
          select id from webhook_listeners where expires_at < now() - make_interval(secs => ${OLD_ROWS.webhookDeliveries.seconds})
          limit ${limit} for update skip locked)`)
      return deliveries.rowCount + listeners.rowCount
    },
  }
}
