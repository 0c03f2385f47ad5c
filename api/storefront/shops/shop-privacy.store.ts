import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { anonymiseEvents } from '../../shared/retention/customer-traces.ts'
import { customerShopperId } from '../../shops/shopper.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'

/** A customer as the platform of a shop identifies them: by ID, by e-mail address, usually by both. */
export interface ShopCustomer {
  readonly id: string | null
  readonly email: string | null
  /** Platform IDs of the orders that the request covers. */
  readonly orders: readonly string[]
}

const DataRequest = Type.Object({
  shop: Type.String(),
  requestId: Type.String(),
  customerId: Nullable(Type.String()),
  email: Nullable(Type.String()),
  held: Json,
  createdAt: Timestamp,
})
export type DataRequest = Static<typeof DataRequest>

const IsOnly = rowType(Type.Object({ isOnly: Type.Boolean() }))
const Id = rowType(Type.Object({ id: Type.String() }))

export type ShopPrivacy = ReturnType<typeof createShopPrivacy>

/**
 * Store of the personal data of a shop's customers, other than images. Deletions are idempotent and safe to run
 * concurrently.
 */
export function createShopPrivacy(database: Database) {
  return {
    /** Records the data held about the customer now, once per request. */
    insertDataRequest: async (shop: ShopRecord, requestId: string, customer: ShopCustomer): Promise<void> => {
      const shopper = customer.id === null ? '' : customerShopperId(shop.id, customer.id)
      const isTheirs = sql.fragment`account_id = ${shop.accountId} and external_user_id = ${shopper}`
      await database.query(sql.unsafe`
        insert into data_requests (shop_id, request_id, customer_id, email, held)
        values (${shop.id}, ${requestId}, ${customer.id}, ${customer.email}, jsonb_build_object(
          'photos', (
            select coalesce(jsonb_agg(jsonb_build_object('id', id, 'createdAt', created_at, 'expiresAt', expires_at)), '[]')
            from images where ${isTheirs}),
          'generations', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', id, 'productId', coalesce(join_layers(layers, 'externalId'), product_external_id), 'status', status, 'createdAt', created_at)), '[]')
            from generations where ${isTheirs}),
          'events', (
            select coalesce(jsonb_object_agg(name, count), '{}')
            from (
              select name, count(*) from events
              where (received_on, batch_id) in (select received_on, id from event_batches where ${namesCustomer(shop, customer)})
              group by name
            ) as counted),
          'consents', (
            select coalesce(jsonb_agg(jsonb_build_object('version', version, 'givenAt', given_at, 'withdrawnAt', withdrawn_at)), '[]')
            from consents where shop_id = ${shop.id} and visitor = customer_hash(${shop.accountId}, ${shopper})),
          'lead', (
            select jsonb_build_object('marketingConsent', marketing_consent, 'tags', tags, 'createdAt', created_at)
            from leads where shop_id = ${shop.id} and lower(email) = lower(${customer.email})),
          'waitingLead', (
            select jsonb_build_object('marketingConsent', marketing_consent, 'createdAt', created_at)
            from lead_outbox where shop_id = ${shop.id} and lower(email) = lower(${customer.email}))
        ))
        on conflict do nothing`)
    },

    /** Recorded data requests of a shop (ID or domain) or of all shops, newest first. */
    listDataRequests: (shop: string | null): Promise<readonly DataRequest[]> =>
      database.any(sql.type(rowType(DataRequest))`
        select domain as shop, request_id as "requestId", customer_id as "customerId", email, held,
          data_requests.created_at as "createdAt"
        from data_requests join shops on shops.id = shop_id
        where ${shop}::text is null or shops.id = ${shop} or domain = lower(${shop})
        order by data_requests.id desc`),

    isOnlyShop: ({ id, accountId }: ShopRecord): Promise<boolean> =>
      database.oneFirst(sql.type(IsOnly)`
        select not exists (select from shops where account_id = ${accountId} and id <> ${id}) as "isOnly"`),

    /** Deletes the customer's lead and data requests, and reduces the customer's events to what statistics count. */
    forgetCustomer: async (shop: ShopRecord, customer: ShopCustomer): Promise<void> => {
      await database.query(sql.unsafe`
        delete from leads where shop_id = ${shop.id} and lower(email) = lower(${customer.email})`)
      await database.query(sql.unsafe`
        delete from lead_outbox where shop_id = ${shop.id} and lower(email) = lower(${customer.email})`)
      await database.query(sql.unsafe`
        delete from data_requests
        where shop_id = ${shop.id} and (customer_id = ${customer.id} or lower(email) = lower(${customer.email}))`)
      await database.query(sql.unsafe`with ${anonymiseEvents(namesCustomer(shop, customer))} select from anonymous`)
      if (customer.orders.length > 0) {
        await database.query(sql.unsafe`with ${anonymiseEvents(namesOrder(shop, customer))} select from anonymous`)
      }
    },

    ...createShopErasure(database),
  }
}

/** Deletes the data of an uninstalled shop, in batches. */
function createShopErasure(database: Database) {
  return {
    /** A batch of `externalUserId`s of the shop's shoppers who have images or share links. */
    findShoppers: async ({ id, accountId }: ShopRecord, limit: number): Promise<string[]> => {
      const isOfShop = sql.fragment`
        account_id = ${accountId} and external_user_id is not null and starts_with(external_user_id, ${`${id}:`})`
      const rows = await database.any(sql.type(Id)`
        select distinct external_user_id as id from (
          (select external_user_id from images where ${isOfShop} limit ${limit})
          union all (select external_user_id from objects where ${isOfShop} limit ${limit})
          union all (select external_user_id from generations where ${isOfShop} limit ${limit})
          union all (select photo_user_id from generations
            where account_id = ${accountId} and starts_with(photo_user_id, ${`${id}:`}) limit ${limit})
        ) as found`)
      return rows.map((row) => row.id)
    },

    /** Deletes a batch of the shop's leads, share links and data requests. Returns the count. */
    deletePeople: async ({ id }: ShopRecord, limit: number): Promise<number> => {
      let deleted = 0
      for (const table of ['lead_outbox', 'leads', 'share_links', 'data_requests', 'consents']) {
        const name = sql.identifier([table])
        const { rowCount } = await database.query(sql.unsafe`
          delete from ${name} where ctid = any(array(select ctid from ${name} where shop_id = ${id} limit ${limit}))`)
        deleted += rowCount
      }
      return deleted
    },

    /** Deletes a batch of the shop's events. Returns the count. */
    deleteEvents: async ({ id, accountId }: ShopRecord, limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        with batch as (
          select received_on, id from event_batches where account_id = ${accountId} and shop_id = ${id} limit ${limit}
        ), pending as (
          delete from event_outbox using batch
          where event_outbox.received_on = batch.received_on and event_outbox.batch_id = batch.id
        ), gone as (
          delete from events using batch where ${isOfBatch}
        )
        delete from event_batches using batch
        where event_batches.received_on = batch.received_on and event_batches.id = batch.id`)
      return rowCount
    },
  }
}

/**
 * Whether a row of `event_batches` names the customer. Events sent with the account's publishable key have no shop; they name the
 * customer that the shop's own pages and apps named.
 */
function namesCustomer({ id, accountId }: ShopRecord, customer: ShopCustomer) {
  return sql.fragment`
    account_id = ${accountId} and (shop_id = ${id} or shop_id is null)
    and (customer_id = ${customer.id} or lower(customer_email) = lower(${customer.email}))`
}

/** Whether a row of `event_batches` is the event of one of the orders. */
function namesOrder({ id, accountId }: ShopRecord, { orders }: ShopCustomer) {
  return sql.fragment`
    account_id = ${accountId} and shop_id = ${id} and (received_on, id) in (
      select received_on, batch_id from events
      where name = 'order:created' and properties ->> 'order_id' = any(${sql.array([...orders], 'text')}))`
}

const isOfBatch = sql.fragment`events.received_on = batch.received_on and events.batch_id = batch.id`
