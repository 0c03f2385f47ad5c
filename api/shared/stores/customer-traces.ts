import { type Database, rowType, sql, Timestamp } from '../database/database.ts'
import { Type } from '../schema.ts'
import { type Customer, isOf } from './customer.ts'
import { noteErasedRows } from './erasures.ts'

const Marked = rowType(Type.Object({ customer: Type.String(), erasedAt: Timestamp, isKnown: Type.Boolean() }))
const Found = rowType(Type.Object({ accountId: Type.String(), externalUserId: Type.String(), hash: Type.String() }))
const Id = rowType(Type.Object({ id: Type.String() }))
const Count = rowType(Type.Object({ count: Type.Integer() }))

/** The customer of an event, in the form in which images name their owner. */
const shopCustomer = sql.fragment`shop_id || ':customer:' || customer_id`
const namesShopCustomer = sql.fragment`shop_id is not null and customer_id is not null`

/** Personal data of a customer other than images: identity, leads, events and generations. */
export function createCustomerTraces(database: Database) {
  return {
    /**
     * Refuses, from now on, calls of the customer that were sent before. Waits for calls whose acceptance can no longer
     * be refused. Returns the time, the hash of the customer, and whether any data of the customer exists.
     */
    markErased: ({ accountId, externalUserId }: Customer) => {
      const isTheirs = sql.fragment`account_id = ${accountId} and external_user_id = ${externalUserId}`
      return database.one(sql.type(Marked)`
        select mark_erased(${accountId}, ${externalUserId}) as "erasedAt",
          encode(customer_hash(${accountId}, ${externalUserId}), 'hex') as customer,
          exists (select from images where ${isTheirs}) or exists (select from objects where ${isTheirs})
            or exists (select from generations where ${isTheirs})
            or exists (select from shops where account_id = ${accountId} and starts_with(${externalUserId}, id || ':'))
            as "isKnown"`)
    },

    /** The customers with images or links in the database, by the hex strings of their hashes. */
    findCustomers: (hashes: readonly string[]) =>
      database.any(sql.type(Found)`
        select account_id as "accountId", external_user_id as "externalUserId", hash from (
          select account_id, external_user_id, encode(customer_hash(account_id, external_user_id), 'hex') as hash from (
            select account_id, external_user_id from images where external_user_id is not null
            union select account_id, external_user_id from objects where external_user_id is not null
            union select account_id, external_user_id from generations where external_user_id is not null
            union select account_id, external_user_id from leads join shops on shops.id = shop_id
              where external_user_id is not null
            union select account_id, external_user_id from lead_outbox join shops on shops.id = shop_id
              where external_user_id is not null
            union select account_id, ${shopCustomer} from event_batches where ${namesShopCustomer}
            union select account_id, ${shopCustomer} from events where ${namesShopCustomer}
            union select account_id, ${shopCustomer} from event_outbox where ${namesShopCustomer}
          ) as known
        ) as hashed where hash = any(${sql.array([...hashes], 'text')})`),

    ...createTraceDeletions(database),
  }
}

function createTraceDeletions(database: Database) {
  return {
    /** Deletes the e-mail addresses that a shopper left with a shop. Returns the count. */
    deleteLeads: async (customer: Customer, limit: number): Promise<number> => {
      const { accountId, externalUserId, before = new Date() } = customer
      let deleted = 0
      for (const table of ['lead_outbox', 'leads']) {
        const name = sql.identifier([table])
        deleted += await database.oneFirst(sql.type(Count)`
          with gone as (
            delete from ${name} where ctid = any(array(
              select ${name}.ctid from ${name} join shops on shops.id = shop_id
              where account_id = ${accountId} and external_user_id = ${externalUserId}
                and ${name}.created_at <= ${before.toISOString()}
              limit ${limit}))
            returning 1
          ), ${noteErasedRows(customer, table, sql.fragment`gone`)}
          select count(*) as count from gone`)
      }
      return deleted
    },

    /** Removes the customer of a shop from its analytics events. Returns the count of changed rows. */
    unlinkEvents: async (customer: Customer): Promise<number> => {
      const { accountId, externalUserId, before = new Date() } = customer
      const [shopId, customerId] = externalUserId.split(':customer:')
      if (customerId === undefined) return 0
      const until = {
        event_outbox: sql.fragment`received_at <= ${before.toISOString()}`,
        events: sql.fragment`received_at <= ${before.toISOString()}`,
        // A batch has the day alone: one of the day of the erasure may be newer, and is unlinked too.
        event_batches: sql.fragment`received_on <= (${before.toISOString()}::timestamptz at time zone 'UTC')::date`,
      }
      let changed = 0
      for (const [table, isOld] of Object.entries(until)) {
        changed += await database.oneFirst(sql.type(Count)`
          with unlinked as (
            update ${sql.identifier([table])} set customer_id = null, customer_email = null
            where account_id = ${accountId} and shop_id = ${shopId} and customer_id = ${customerId} and ${isOld}
            returning 1
          ), ${noteErasedRows(customer, table, sql.fragment`unlinked`)}
          select count(*) as count from unlinked`)
      }
      return changed
    },

    /** Unlinks ended generations from the customer and from the customer's stored objects. The records stay. */
    unlinkGenerations: async (customer: Customer, limit: number): Promise<number> => {
      const { accountId } = customer
      const rows = await database.any(sql.type(Id)`
        with theirs as (
          select id from generations
          where ${isOf(customer)} and status in ('COMPLETED', 'FAILED')
          order by id limit ${limit} for update
        ), unlinked as (
          update generations set external_user_id = null, image_id = null, result_key = null, ingredient_salt = null
          from theirs
          where generations.id = theirs.id
          returning generations.id
        ), forgotten as (
          -- The response may contain a link to the result. Without it, a repeated request finds the generation by its ID.
          update idempotency_keys set status = null, answer = null, lease_until = now() from unlinked
          where idempotency_keys.account_id = ${accountId} and resource_id = substr(unlinked.id, 5)
            and answer is not null
        ), refused as (
          -- With its appeal and what an operator answered. Blocks stay: they identify no person.
          delete from safety_refusals using unlinked where safety_refusals.generation_id = unlinked.id
        ), ${noteErasedRows(customer, 'generations', sql.fragment`unlinked`)}
        select id from unlinked`)
      return rows.length
    },
  }
}
