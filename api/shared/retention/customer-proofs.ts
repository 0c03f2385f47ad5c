import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import { type Customer, idsOf } from './customer.ts'
import { noteErasedRows } from './erasure-record.store.ts'

const Count = rowType(Type.Object({ count: Type.Integer() }))

/** Proofs about a customer: consents, and recorded data requests. */
export function createCustomerProofs(database: Database) {
  return {
    /** Ends the consents of a customer. The ledger keeps when they were given and withdrawn. Returns the count. */
    withdrawConsents: (customer: Customer): Promise<number> => {
      const { accountId, before } = customer
      const isBefore = before === undefined ? sql.fragment`true` : sql.fragment`given_at <= ${before.toISOString()}`
      return database.oneFirst(sql.type(Count)`
        with withdrawn as (
          update consents set withdrawn_at = now_ms()
          where visitor = any(array(select customer_hash(${accountId}, id) from unnest(${idsOf(customer)}) as id))
            and withdrawn_at is null and ${isBefore}
          returning 1
        ), ${noteErasedRows(customer, 'consents', sql.fragment`withdrawn`)}
        select count(*)::int as count from withdrawn`)
    },

    /** Like `withdrawConsents`, for erasures repeated after a restore: the ledger identifies customers only by their hashes. */
    withdrawRestoredConsents: async (erasures: ReadonlyMap<string, Date>): Promise<number> => {
      const hashes = sql.array([...erasures.keys()], 'text')
      const times = sql.array(
        [...erasures.values()].map((time) => time.toISOString()),
        'timestamptz',
      )
      const { rowCount } = await database.query(sql.unsafe`
        update consents set withdrawn_at = erased_at from unnest(${hashes}, ${times}) as erasure (hash, erased_at)
        where visitor = decode(hash, 'hex') and withdrawn_at is null and given_at <= erased_at`)
      return rowCount
    },

    /** Deletes the recorded data requests of a customer of shops. Returns the count. */
    deleteDataRequests: async (customer: Customer): Promise<number> => {
      const { accountId, before = new Date() } = customer
      return database.oneFirst(sql.type(Count)`
        with deleted as (
          delete from data_requests using shops
          where shops.id = shop_id and account_id = ${accountId}
            and shop_id || ':customer:' || customer_id = any(${idsOf(customer)})
            and data_requests.created_at <= ${before.toISOString()}
          returning 1
        ), ${noteErasedRows(customer, 'data_requests', sql.fragment`deleted`)}
        select count(*)::int as count from deleted`)
    },
  }
}
