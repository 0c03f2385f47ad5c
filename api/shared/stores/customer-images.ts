import { type Database, rowType, sql } from '../database/database.ts'
import { Type } from '../schema.ts'
import { type Customer, isOf } from './customer.ts'
import { isHeld, lockHolds } from './legal-holds.ts'

const Key = rowType(Type.Object({ key: Type.String() }))
const Id = rowType(Type.Object({ id: Type.String() }))

/**
 * For this long after its row was written, the bytes of an object may still be on their way. A deletion by then keeps the
 * row, without its owner, for a sweep to delete once more.
 */
const SETTLING_MINUTES = 10

/** Where held objects of erased customers are kept. Nothing makes links to keys in it. */
const HELD_FOLDER = 'held/'

/** Deletes the images of a customer and all that is stored for them. Held objects move to a folder that no link leads to. */
export function createCustomerImages(database: Database) {
  return {
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
