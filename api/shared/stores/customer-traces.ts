import { type Database, rowType, sql, Timestamp } from '../database/database.ts'
import { Type } from '../schema.ts'
import { type Customer, idsOf, isOf } from './customer.ts'
import { noteErasedRows } from './erasures.ts'

const Marked = rowType(
  Type.Object({
    customer: Type.String(),
    erasedAt: Timestamp,
    isKnown: Type.Boolean(),
    consents: Type.Array(Type.String()),
  }),
)
const Found = rowType(Type.Object({ accountId: Type.String(), externalUserId: Type.String(), hash: Type.String() }))
const Id = rowType(Type.Object({ id: Type.String() }))
const Count = rowType(Type.Object({ count: Type.Integer() }))

/** Personal data of a customer other than images: identity, leads, events and generations. */
export function createCustomerTraces(database: Database) {
  return {
    /**
     * Refuses, from now on, calls of the customer that were sent before. Waits for calls whose acceptance can no longer
     * be refused. Returns the time, the hash of the customer, whether any data of the customer exists, and the hashes of the
     * customer's IDs under which consents are stored.
     */
    markErased: (customer: Customer) => {
      const { accountId, externalUserId } = customer
      const isTheirs = sql.fragment`account_id = ${accountId} and external_user_id = any(${idsOf(customer)})`
      const isTheirLead = sql.fragment`
        external_user_id = any(${idsOf(customer)}) and shop_id in (select id from shops where account_id = ${accountId})`
      const consents = sql.fragment`array(
          select distinct encode(visitor, 'hex') from consents
          where visitor = any(array(select customer_hash(${accountId}, id) from unnest(${idsOf(customer)}) as id)))`
      return database.one(sql.type(Marked)`
        select mark_erased(${accountId}, ${externalUserId}) as "erasedAt",
          encode(customer_hash(${accountId}, ${externalUserId}), 'hex') as customer, ${consents} as consents,
          exists (select from images where ${isTheirs}) or exists (select from objects where ${isTheirs})
            or exists (select from generations where ${isTheirs})
            or exists (select from leads where ${isTheirLead}) or exists (select from lead_outbox where ${isTheirLead})
            or exists (select from event_batches where ${isEventOf(customer)})
            or exists (select from shops where account_id = ${accountId} and starts_with(${externalUserId}, id || ':'))
            or cardinality(${consents}) > 0 as "isKnown"`)
    },

    /** The customers with images, leads, events or links in the database, by the hex strings of their hashes. */
    findCustomers: (hashes: readonly string[]) =>
      database.any(sql.type(Found)`
        select account_id as "accountId", external_user_id as "externalUserId", hash from (
          select account_id, external_user_id, encode(customer_hash(account_id, external_user_id), 'hex') as hash from (
            select account_id, unnest(array[external_user_id, customer_value(external_user_id)]) as external_user_id from (
              select account_id, external_user_id from images
              union select account_id, external_user_id from objects
              union select account_id, external_user_id from generations
              union select account_id, external_user_id from leads join shops on shops.id = shop_id
              union select account_id, external_user_id from lead_outbox join shops on shops.id = shop_id
            ) as stored
            union select account_id, customer_id from event_batches where customer_id is not null
            union select account_id, shop_id || ':customer:' || customer_id from event_batches where customer_id is not null
            union select account_id, unnest(array[browser, shop_id || ':browser:' || browser])
              from event_batches, unnest(array[anonymous_id, 'anon_' || anonymous_id]) as browser
          ) as known
        ) as hashed where hash = any(${sql.array([...hashes], 'text')})`),

    ...createTraceDeletions(database),
  }
}

function createTraceDeletions(database: Database) {
  return {
    /** Deletes the e-mail addresses that a shopper left with a shop. Returns the count. */
    deleteLeads: async (customer: Customer, limit: number): Promise<number> => {
      const { accountId, before = new Date() } = customer
      let deleted = 0
      for (const table of ['lead_outbox', 'leads']) {
        const name = sql.identifier([table])
        deleted += await database.oneFirst(sql.type(Count)`
          with gone as (
            delete from ${name} where ctid = any(array(
              select ${name}.ctid from ${name} join shops on shops.id = shop_id
              where account_id = ${accountId} and external_user_id = any(${idsOf(customer)})
                and ${name}.created_at <= ${before.toISOString()}
              limit ${limit}))
            returning 1
          ), ${noteErasedRows(customer, table, sql.fragment`gone`)}
          select count(*) as count from gone`)
      }
      return deleted
    },

    /**
     * Removes the customer from analytics events, of the account's publishable key too: ID, e-mail address and what the page
     * reported of them; for the ID of a browser also that ID and the visit. Returns the count of changed rows.
     */
    unlinkEvents: async (customer: Customer): Promise<number> => {
      const before = (customer.before ?? new Date()).toISOString()
      const isOfBatch = (table: string) => {
        const name = sql.identifier([table])
        return sql.fragment`${name}.received_on = theirs.received_on and ${name}.batch_id = theirs.id`
      }
      const isBrowser = isBrowserOf(customer)
      // A batch has the day alone: one of the day of the erasure may be newer, and is unlinked too.
      return database.oneFirst(sql.type(Count)`
        with theirs as (
          select * from event_batches
          where ${isEventOf(customer)} and received_on <= (${before}::timestamptz at time zone 'UTC')::date
          for update
        ), cleaned as (
          update events set properties = ${cleaned(customer, 'events', 'properties')} from theirs where ${isOfBatch('events')}
        ), pending as (
          update event_outbox set properties = ${cleaned(customer, 'event_outbox', 'properties')} from theirs
          where ${isOfBatch('event_outbox')}
        ), unlinked as (
          update event_batches set customer_id = null, customer_email = null,
            anonymous_id = case when ${isBrowser} then null else theirs.anonymous_id end,
            session_id = case when ${isBrowser} then null else theirs.session_id end,
            context = ${cleaned(customer, 'event_batches', 'context')}
          from theirs
          where event_batches.received_on = theirs.received_on and event_batches.id = theirs.id
          returning 1
        ), ${noteErasedRows(customer, 'event_batches', sql.fragment`unlinked`)}
        select count(*) as count from unlinked`)
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

/** Value and shop in an ID as images name the shoppers of a shop; the ID itself and any shop for other IDs. */
function readId({ externalUserId }: Customer) {
  const [, shopId = null, kind = null, value = externalUserId] =
    /^(shop_[^:]+):(customer|browser|visitor|address):(.+)$/s.exec(externalUserId) ?? []
  // The widget sends the ID of its browser without the prefix in its events.
  const browserIds = sql.array([value, value.replace(/^anon_/, '')], 'text')
  return {
    shopId,
    customerId: kind === null || kind === 'customer' ? sql.fragment`${value}` : sql.fragment`null::text`,
    browserIds: kind === null || kind === 'browser' ? browserIds : sql.fragment`array[]::text[]`,
    texts: sql.fragment`(array[${value}]::text[] || ${browserIds})`,
  }
}

/**
 * Whether a batch of events names the customer. Events sent with the account's publishable key have no shop; they name the
 * customer that the shop's own pages and apps named.
 */
function isEventOf(customer: Customer) {
  const { shopId, customerId, browserIds } = readId(customer)
  const isInShop = shopId === null ? sql.fragment`true` : sql.fragment`(shop_id is null or shop_id = ${shopId})`
  return sql.fragment`(account_id = ${customer.accountId} and ${isInShop}
    and (customer_id = ${customerId} or anonymous_id = any(${browserIds})))`
}

/** Whether the batch `theirs` is of the browser that the ID of the customer names. */
function isBrowserOf(customer: Customer) {
  return sql.fragment`theirs.anonymous_id = any(${readId(customer).browserIds})`
}

/** A JSON column of a row of the batch `theirs`, without what names the customer. */
function cleaned(customer: Customer, table: string, column: string) {
  return sql.fragment`without_texts(${sql.identifier([table, column])}, array_remove(${readId(customer).texts}
    || array[theirs.customer_email, case when ${isBrowserOf(customer)} then theirs.session_id end], null))`
}
