import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../database/database.ts'
import { browserId, parseShopperId } from '../shopper-id.ts'
import { type Customer, idsOf, isGenerationOf } from './customer.ts'
import { noteErasedRows } from './erasure-record.store.ts'

type SqlFragment = ReturnType<typeof sql.fragment>

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

/** Stands for the shop of events sent with a publishable key. */
const NO_SHOP = 'shop_00000000-0000-0000-0000-000000000000'

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
        owner_ids && ${idsOf(customer)} and shop_id in (select id from shops where account_id = ${accountId})`
      const consents = sql.fragment`array(
          select distinct encode(visitor, 'hex') from consents
          where visitor = any(array(select customer_hash(${accountId}, id) from unnest(${idsOf(customer)}) as id)))`
      return database.one(sql.type(Marked)`
        select mark_erased(${accountId}, ${externalUserId}) as "erasedAt",
          encode(customer_hash(${accountId}, ${externalUserId}), 'hex') as customer, ${consents} as consents,
          exists (select from images where ${isTheirs}) or exists (select from objects where ${isTheirs})
            or exists (select from generations where ${isGenerationOf(customer)})
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
            select account_id, unnest(customer_names(external_user_id)) as external_user_id from (
              select account_id, external_user_id from images
              union select account_id, external_user_id from objects
              union select account_id, external_user_id from generations
              union select account_id, photo_user_id from generations
              union select account_id, unnest(owner_ids) from leads join shops on shops.id = shop_id
              union select account_id, unnest(owner_ids) from lead_outbox join shops on shops.id = shop_id
              union select account_id, coalesce(shop_id, ${NO_SHOP}) || ':customer:' || customer_id from event_batches
              union select account_id, coalesce(shop_id, ${NO_SHOP}) || ':browser:' || anonymous_id from event_batches
            ) as stored
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
              where account_id = ${accountId} and owner_ids && ${idsOf(customer)}
                and ${name}.created_at <= ${before.toISOString()}
              limit ${limit}))
            returning 1
          ), ${noteErasedRows(customer, table, sql.fragment`gone`)}
          select count(*) as count from gone`)
      }
      return deleted
    },

    /** Reduces the customer's analytics events, of the account's publishable key too, to what statistics count. Returns the count of batches. */
    anonymiseEvents: async (customer: Customer): Promise<number> => {
      const { before } = customer
      const isOld = before === undefined ? sql.fragment`true` : sql.fragment`received_at <= ${before.toISOString()}`
      return database.oneFirst(sql.type(Count)`
        with ${anonymiseEvents(sql.fragment`${isEventOf(customer)} and ${isOld}`)},
          ${noteErasedRows(customer, 'event_batches', sql.fragment`anonymous`)}
        select count(*) as count from anonymous`)
    },

    /**
     * Unlinks ended generations from the customer and from the stored objects. The records stay; those that other end users made of
     * the customer's photos stay theirs.
     */
    unlinkGenerations: async (customer: Customer, limit: number): Promise<number> => {
      const { accountId } = customer
      const rows = await database.any(sql.type(Id)`
        with theirs as (
          select id from generations
          where ${isGenerationOf(customer)} and status in ('COMPLETED', 'FAILED')
          order by id limit ${limit} for update
        ), unlinked as (
          update generations set image_id = null, mask_image_id = null, result_key = null, results = null, ingredient_salt = null, photo_user_id = null,
            fingerprint = null,
            external_user_id = case when external_user_id = any(${idsOf(customer)}) then null else external_user_id end
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

/**
 * Whether a row of `event_batches` names the customer. Events sent with the account's publishable key have no shop; they name the
 * customer that the shop's own pages and apps named.
 */
export function isEventOf({ accountId, externalUserId }: Customer) {
  const name = parseShopperId(externalUserId)
  const { kind, value } = name ?? { kind: null, value: externalUserId }
  const isInShop =
    name === null
      ? sql.fragment`true`
      : sql.fragment`coalesce(shop_id, ${name.shopId}) in (select id from shops where id = ${name.shopId} and account_id = ${accountId})`
  const isCustomer = kind === null || kind === 'customer' ? sql.fragment`customer_id = ${value}` : sql.fragment`false`
  const isBrowser =
    kind === null || kind === 'browser' ? sql.fragment`anonymous_id = ${browserId(value)}` : sql.fragment`false`
  return sql.fragment`(account_id = ${accountId} and ${isInShop} and (${isCustomer} or ${isBrowser}))`
}

/**
 * The CTE `anonymous` and those that it needs: reduce events to name, time, shop and product, which statistics count. Everything else can
 * contain what the page knows of the person. Events that wait for the analytics provider are deleted. `isTheirs` selects rows of `event_batches`.
 */
export function anonymiseEvents(isTheirs: SqlFragment): SqlFragment {
  const isOfBatch = (table: 'events' | 'event_outbox') => {
    const name = sql.identifier([table])
    return sql.fragment`${name}.received_on = theirs.received_on and ${name}.batch_id = theirs.id`
  }
  return sql.fragment`theirs as (
      select received_on, id, account_id from event_batches where ${isTheirs} for update
    ), waiting as (
      delete from event_outbox using theirs where ${isOfBatch('event_outbox')}
    ), reduced as (
      -- The sender chose the ID, which may contain the person's address: its hash, as in event_keys, still tells events apart.
      update events set insert_id = event_key(theirs.account_id, insert_id)::text, generation_id = null, properties = '{}'
      from theirs where ${isOfBatch('events')}
    ), anonymous as (
      update event_batches set anonymous_id = null, session_id = null, customer_id = null, customer_email = null, context = '{}'
      from theirs where event_batches.received_on = theirs.received_on and event_batches.id = theirs.id
      returning 1
    )`
}
