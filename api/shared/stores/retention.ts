import { type Database, rowType, sql } from '../database.ts'
import { Type } from '../schema.ts'
import { createDueObjects, type DueObject, type Hold } from './due-objects.ts'
import { releaseAbandoned } from './product-merge.ts'

/** A person behind a caller's opaque id. */
export interface Customer {
  readonly accountId: string
  readonly externalUserId: string
}

const Key = rowType(Type.Object({ key: Type.String() }))
const Id = rowType(Type.Object({ id: Type.String() }))

/**
 * For this long after its row was written, the bytes of an object may still be on their way. Whoever deletes it by then keeps the
 * row, without its owner, for a sweep to delete once more.
 */
const SETTLING_MINUTES = 10

/** A link that has ended is told from one that never was for so long. */
const LINK_MEMORY_DAYS = 30

/** For an operator to pass on what a shop asked for. */
const DATA_REQUEST_DAYS = 90

/** That an operator can see what endpoints of webhooks were told. Longer than they are tried. */
const DELIVERY_DAYS = 14

export type Retention = ReturnType<typeof createRetention>

/** The end of what is stored. Every method does a part, returns how much or what, and may be run by several at once. */
export function createRetention(database: Database) {
  const dueObjects = createDueObjects(database)
  return {
    /** Deletes objects that are past their time and not held, and the images that lie in them: bytes first, then rows. Returns them. */
    deleteExpiredObjects: (
      limit: number,
      deleteBytes: (keys: readonly string[]) => Promise<void>,
      holds: readonly Hold[] = [],
    ): Promise<readonly DueObject[]> => dueObjects.delete({ lifetime: null, holds }, { limit, deleteBytes }),

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

    /** Deletes links that ended so long ago that nobody need be told any more that they have. */
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
     * Deletes the images of a customer: those uploaded for them, and those that their generations used and that are nobody
     * else's. Marks what is stored for these as the customer's, where it was not.
     */
    deleteImages: async ({ accountId, externalUserId }: Customer, limit: number): Promise<number> => {
      const rows = await database.any(sql.type(Id)`
        with theirs as (
          select id from images where account_id = ${accountId} and external_user_id = ${externalUserId}
          union
          select images.id from generations join images on images.id = generations.image_id
          where generations.account_id = ${accountId} and generations.external_user_id = ${externalUserId}
            and images.external_user_id is null
          limit ${limit}
        ), gone as (
          delete from images using theirs where images.id = theirs.id returning images.id, object_key
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
    },

    /** Deletes what was written down of customers for whom their shop asked, when there was time enough to pass it on. */
    deleteOldDataRequests: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from data_requests where id in (
          select id from data_requests where created_at < now() - make_interval(days => ${DATA_REQUEST_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    /** Deletes what endpoints of webhooks were told, or could not be told, long ago. */
    deleteOldWebhookDeliveries: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from webhook_deliveries where id in (
          select id from webhook_deliveries where created_at < now() - make_interval(days => ${DELIVERY_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },

    findObjects: async ({ accountId, externalUserId }: Customer, limit: number): Promise<string[]> => {
      const rows = await database.any(sql.type(Key)`
        select key from objects where account_id = ${accountId} and external_user_id = ${externalUserId} limit ${limit}`)
      return rows.map(({ key }) => key)
    },

    /** MUST be called after the bytes are gone. */
    deleteObjects: async (keys: readonly string[]): Promise<void> => {
      const isTheirs = sql.fragment`key = any(${sql.array([...keys], 'text')})`
      const settled = sql.fragment`created_at <= now() - make_interval(mins => ${SETTLING_MINUTES})`
      await database.query(sql.unsafe`
        with gone as (delete from objects where ${isTheirs} and ${settled})
        update objects set external_user_id = null, expires_at = now() + make_interval(mins => ${SETTLING_MINUTES})
        where ${isTheirs} and not ${settled}`)
    },

    /** Cuts the link from ended generations to the customer and to what was stored for them. The records stay. */
    unlinkGenerations: async ({ accountId, externalUserId }: Customer, limit: number): Promise<number> => {
      const rows = await database.any(sql.type(Id)`
        with theirs as (
          select id from generations
          where account_id = ${accountId} and external_user_id = ${externalUserId} and status in ('COMPLETED', 'FAILED')
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
