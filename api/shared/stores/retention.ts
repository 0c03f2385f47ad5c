import { type Database, rowType, sql, Timestamp } from '../database/database.ts'
import { Type } from '../schema.ts'
import { createDueObjects, type DueObject } from './due-objects.ts'
import { isHeld, lockHolds } from './legal-holds.ts'
import { releaseAbandoned } from './product-merge.ts'

/** A person behind a caller's opaque id. */
export interface Customer {
  readonly accountId: string
  readonly externalUserId: string
  /** Only what was created until then, as when an earlier erasure is repeated; everything when missing. */
  readonly before?: Date
}

const Marked = rowType(Type.Object({ customer: Type.String(), erasedAt: Timestamp, isKnown: Type.Boolean() }))
const Found = rowType(Type.Object({ accountId: Type.String(), externalUserId: Type.String(), hash: Type.String() }))

const Key = rowType(Type.Object({ key: Type.String() }))
const Id = rowType(Type.Object({ id: Type.String() }))

/**
 * For this long after its row was written, the bytes of an object may still be on their way. A deletion by then keeps the
 * row, without its owner, for a sweep to delete once more.
 */
const SETTLING_MINUTES = 10

/** Where held objects of erased customers are kept. Nothing makes links to keys in it. */
const HELD_FOLDER = 'held/'

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

/** The customer of an event as images name their owner. */
const shopCustomer = sql.fragment`shop_id || ':customer:' || customer_id`
const namesShopCustomer = sql.fragment`shop_id is not null and customer_id is not null`

export type Retention = ReturnType<typeof createRetention>

/** The end of what is stored. Every method does a part, returns how much or what, and may be run by several at once. */
export function createRetention(database: Database) {
  const dueObjects = createDueObjects(database)
  return {
    /**
     * Deletes objects that have been past their own time for `graceSeconds` and are not held, and the images that lie in them:
     * bytes first, then rows. Returns them.
     */
    deleteExpiredObjects: (
      { limit, graceSeconds }: { limit: number; graceSeconds: number },
      deleteBytes: (keys: readonly string[]) => Promise<void>,
    ): Promise<readonly DueObject[]> =>
      dueObjects.delete({ ttlSeconds: null, graceSeconds, kinds: [], accounts: [] }, { limit, deleteBytes }),

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

    /**
     * From now on refuses calls of the customer that were sent before. Waits for those whose acceptance cannot be refused any more.
     * Returns when that was, the hash of the customer, and whether anything is known of them.
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

    /** The customers of whom the database has images or links, by the hex strings of their hashes. */
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

    /** Deletes marks that no call can meet any more. Returns how many. */
    deleteOldErasureMarks: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from erased_customers where customer in (
          select customer from erased_customers where erased_at < now() - make_interval(mins => ${ERASURE_MARK_MINUTES})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /**
     * Deletes the images of a customer: those uploaded for them, and those without an owner that only their generations used.
     * Marks what is stored for these as the customer's, where it was not.
     */
    deleteImages: (customer: Customer, limit: number): Promise<number> =>
      database.transaction(async (transaction) => {
        // Acceptances that use one of these end first. Only a later statement sees what they wrote.
        const ids = await transaction.anyFirst(sql.type(Id)`
          select id from images where ${isImageOf(customer)} order by id limit ${limit} for update`)
        if (ids.length === 0) return 0
        const { accountId, externalUserId } = customer
        const rows = await transaction.any(sql.type(Id)`
          with gone as (
            delete from images where id = any(${sql.array([...ids], 'text')}) and ${isImageOf(customer)}
            returning images.id, object_key
          ), marked as (
            update objects set external_user_id = ${externalUserId} from gone
            -- The second is the cropped view beside the photo.
            where objects.key in (object_key, regexp_replace(object_key, '\\.\\w+$', '-view.jpg'))
          ), forgotten as (
            delete from idempotency_keys using gone
            where idempotency_keys.account_id = ${accountId} and resource_id = substr(gone.id, 5)
          )
          select id from gone`)
        return rows.length
      }),

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

    /** Deletes the e-mail addresses that a shopper left with a shop. Returns their count. */
    deleteLeads: async (
      { accountId, externalUserId, before = new Date() }: Customer,
      limit: number,
    ): Promise<number> => {
      let deleted = 0
      for (const table of ['lead_outbox', 'leads']) {
        const name = sql.identifier([table])
        const { rowCount } = await database.query(sql.unsafe`
          delete from ${name} where ctid = any(array(
            select ${name}.ctid from ${name} join shops on shops.id = shop_id
            where account_id = ${accountId} and external_user_id = ${externalUserId}
              and ${name}.created_at <= ${before.toISOString()}
            limit ${limit}))`)
        deleted += rowCount
      }
      return deleted
    },

    /** Removes the customer of a shop from its analytics events. Returns the count of changed rows. */
    unlinkEvents: async ({ accountId, externalUserId, before = new Date() }: Customer): Promise<number> => {
      const [shopId, customerId] = externalUserId.split(':customer:')
      if (customerId === undefined) return 0
      let changed = 0
      for (const table of ['event_outbox', 'events']) {
        const { rowCount } = await database.query(sql.unsafe`
          update ${sql.identifier([table])} set customer_id = null, customer_email = null
          where account_id = ${accountId} and shop_id = ${shopId} and customer_id = ${customerId}
            and received_at <= ${before.toISOString()}`)
        changed += rowCount
      }
      // A batch has the day alone: one of the day of the erasure may be newer, and is unlinked too.
      const { rowCount } = await database.query(sql.unsafe`
        update event_batches set customer_id = null, customer_email = null
        where account_id = ${accountId} and shop_id = ${shopId} and customer_id = ${customerId}
          and received_on <= (${before.toISOString()}::timestamptz at time zone 'UTC')::date`)
      return changed + rowCount
    },

    /**
     * Deletes what is stored for a customer and not held: bytes by `deleteBytes`, then rows, in one transaction. Returns how
     * much.
     */
    deleteObjects: (
      customer: Customer,
      { limit, deleteBytes }: { limit: number; deleteBytes: (keys: readonly string[]) => Promise<void> },
    ): Promise<number> =>
      database.transaction(async (transaction) => {
        await transaction.query(lockHolds)
        const rows = await transaction.any(sql.type(Key)`
          select key from objects
          where ${isOf(customer)} and not ${isHeld}
          order by key limit ${limit} for update`)
        const keys = rows.map(({ key }) => key)
        if (keys.length === 0) return 0
        await deleteBytes(keys)
        await deleteRows(transaction, keys)
        return keys.length
      }),

    /** What is stored for a customer, held, and still at the key by which links find it. */
    findHeldObjects: async (customer: Customer, limit: number): Promise<string[]> => {
      const rows = await database.any(sql.type(Key)`
        select key from objects
        where ${isOf(customer)} and ${isHeld}
          and not starts_with(key, ${HELD_FOLDER})
        order by key limit ${limit}`)
      return rows.map(({ key }) => key)
    },

    /**
     * Records, before the bytes are copied, the key at which an erased object is kept until its hold ends; a sweep deletes it
     * then. Null when the object does not exist any more.
     */
    insertHeldCopy: async (key: string): Promise<string | null> => {
      const row = await database.maybeOne(sql.type(Key)`
        insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
        select ${HELD_FOLDER} || key, account_id, external_user_id, kind, bytes, now() from objects where key = ${key}
        on conflict (key) do update set expires_at = now()
        returning key`)
      return row?.key ?? null
    },

    /** Deletes the row of an object whose bytes are gone from its key. */
    deleteObjectRow: (key: string): Promise<void> => deleteRows(database, [key]),

    /** Cuts the link from ended generations to the customer and to what was stored for them. The records stay. */
    unlinkGenerations: async (customer: Customer, limit: number): Promise<number> => {
      const { accountId } = customer
      const rows = await database.any(sql.type(Id)`
        with theirs as (
          select id from generations
          where ${isOf(customer)} and status in ('COMPLETED', 'FAILED')
          order by id limit ${limit} for update
        ), unlinked as (
          update generations set external_user_id = null, image_id = null, result_key = null from theirs
          where generations.id = theirs.id
          returning generations.id
        ), forgotten as (
          -- The answer may hold a link to the result; without it a repeated request finds the generation by its id.
          update idempotency_keys set status = null, answer = null, lease_until = now() from unlinked
          where idempotency_keys.account_id = ${accountId} and resource_id = substr(unlinked.id, 5)
            and answer is not null
        )
        select id from unlinked`)
      return rows.length
    },
  }
}

/** MUST be called after the bytes are gone. */
async function deleteRows(database: Pick<Database, 'query'>, keys: readonly string[]): Promise<void> {
  const isTheirs = sql.fragment`key = any(${sql.array([...keys], 'text')})`
  const settled = sql.fragment`created_at <= now() - make_interval(mins => ${SETTLING_MINUTES})`
  await database.query(sql.unsafe`
    with gone as (delete from objects where ${isTheirs} and ${settled})
    update objects set external_user_id = null, expires_at = now() + make_interval(mins => ${SETTLING_MINUTES})
    where ${isTheirs} and not ${settled}`)
}

/**
 * Whether a row of `images` belongs to the customer: uploaded for them, or uploaded without an owner and used by their
 * generations only. A photo that generations of others, or of no end user, use belongs to these too and is left to them.
 */
function isImageOf(customer: Customer) {
  const { accountId, externalUserId } = customer
  return sql.fragment`images.id in (
      select id from images where ${isOf(customer)}
      union all
      select free.id
      from (select image_id from generations where ${isOf(customer)}) as used
        join images as free on free.id = used.image_id and free.account_id = ${accountId} and free.external_user_id is null
      where not exists (
        select from generations as other
        where other.image_id = free.id and other.external_user_id is distinct from ${externalUserId}))`
}

/** Whether a row of images, objects or generations is the customer's. */
function isOf({ accountId, externalUserId, before }: Customer) {
  const isOld =
    before === undefined ? sql.fragment`true` : sql.fragment`created_at <= ${before.toISOString()}::timestamptz`
  return sql.fragment`account_id = ${accountId} and external_user_id = ${externalUserId} and ${isOld}`
}
