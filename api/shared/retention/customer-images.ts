import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import { deleteUnlessRefused } from '../storage/object.ts'
import { type Customer, idsOf, isGenerationOf, isObjectOf, isOf } from './customer.ts'
import { noteErasedObjects, noteErasedRows, openErasure } from './erasure-record.store.ts'
import { isHeld, lockHolds } from './legal-holds.store.ts'

const Key = rowType(Type.Object({ key: Type.String() }))
const Id = rowType(Type.Object({ id: Type.String() }))

/**
 * Minutes after its row was written during which an object's bytes may still arrive. A deletion within this time keeps
 * the row, without its owner, for a sweep to delete the object again.
 */
export const IN_FLIGHT_MINUTES = 10

/** Folder of held objects of erased customers. No link points into it. */
const HELD_FOLDER = 'held/'

/**
 * Deletes the images of a customer and their stored objects, and what others made of the images. Held objects move to a folder
 * without links.
 */
export function createCustomerImages(database: Database) {
  return {
    /**
     * Deletes the images of a customer: those uploaded for them, and those without an owner that only their generations
     * used. Assigns the stored objects of the latter to the customer. Returns the IDs of the images.
     */
    deleteImages: (customer: Customer, limit: number): Promise<readonly string[]> =>
      database.transaction(async (transaction) => {
        // Waits for acceptances that use one of these images. Only a later statement sees their rows.
        const ids = await transaction.anyFirst(sql.type(Id)`
          select id from images where ${isImageOf(customer)} order by id limit ${limit} for update`)
        if (ids.length === 0) return []
        const { accountId, externalUserId } = customer
        const rows = await transaction.any(sql.type(Id)`
          with gone as (
            delete from images where id = any(${sql.array([...ids], 'text')}) and ${isImageOf(customer)}
            returning images.id, object_key
          ), marked as (
            update objects set external_user_id = ${externalUserId} from gone
            -- The second key is the cropped view of the photo.
            where objects.key in (object_key, regexp_replace(object_key, '\\.\\w+$', '-view.jpg'))
          ), forgotten as (
            delete from idempotency_keys using gone
            where idempotency_keys.account_id = ${accountId} and resource_id = substr(gone.id, 5)
          ), ${noteErasedRows(customer, 'images', sql.fragment`gone`)}
          select id from gone`)
        return rows.map(({ id }) => id)
      }),

    /**
     * Deletes the stored objects of a customer that are not held: bytes by `deleteBytes`, then rows, in one
     * transaction. Objects that the storage refuses to delete expire, without their owner: sweeps retry them, and the
     * receipt waits for it. Returns the count.
     */
    deleteObjects: (
      customer: Customer,
      { limit, deleteBytes }: { limit: number; deleteBytes: (keys: readonly string[]) => Promise<void> },
    ): Promise<number> =>
      database.transaction(async (transaction) => {
        await transaction.query(lockHolds)
        const erasureId = await openErasure(transaction, customer)
        const rows = await transaction.any(sql.type(Key)`
          select key from objects
          where ${isObjectOf(customer)} and not ${isHeld}
          order by key limit ${limit} for update`)
        const keys = rows.map(({ key }) => key)
        if (keys.length === 0) return 0
        const refused = await deleteUnlessRefused(keys, deleteBytes)
        if (erasureId !== null) await noteErasedObjects(transaction, { erasureId, keys })
        await expireRefused(transaction, customer, [...refused])
        await deleteRows(
          transaction,
          customer,
          keys.filter((key) => !refused.has(key)),
        )
        return keys.length
      }),

    /** Held objects of a customer that are still at the key of their links. */
    findHeldObjects: async (customer: Customer, limit: number): Promise<string[]> => {
      const rows = await database.any(sql.type(Key)`
        select key from objects
        where ${isObjectOf(customer)} and ${isHeld}
          and not starts_with(key, ${HELD_FOLDER})
        order by key limit ${limit}`)
      return rows.map(({ key }) => key)
    },

    /**
     * Records, before the bytes are copied, the key at which an erased object is kept until its hold ends; a sweep
     * deletes it then. Null when the object no longer exists.
     */
    insertHeldCopy: async (key: string): Promise<string | null> => {
      const row = await database.maybeOne(sql.type(Key)`
        insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
        select ${HELD_FOLDER} || key, account_id, external_user_id, kind, bytes, now() from objects where key = ${key}
        on conflict (key) do update set expires_at = now()
        returning key`)
      return row?.key ?? null
    },

    /** Makes objects that the storage refused to delete due, without their owner, so that sweeps retry them. */
    expireRefused: (customer: Customer, keys: readonly string[]): Promise<void> =>
      expireRefused(database, customer, keys),

    /** Deletes the row of an object whose bytes have been moved or deleted. */
    deleteObjectRow: (customer: Customer, key: string): Promise<void> => deleteRows(database, customer, [key]),
  }
}

async function expireRefused(
  database: Pick<Database, 'query'>,
  customer: Customer,
  keys: readonly string[],
): Promise<void> {
  await database.query(sql.unsafe`
    with ${forgetResults(customer, keys)}
    update objects set external_user_id = null, generation_id = null, expires_at = now() where key = any(${sql.array([...keys], 'text')})`)
}

/** MUST be called after the bytes were deleted. */
async function deleteRows(
  database: Pick<Database, 'query'>,
  customer: Customer,
  keys: readonly string[],
): Promise<void> {
  const isTheirs = sql.fragment`key = any(${sql.array([...keys], 'text')})`
  const settled = sql.fragment`created_at <= now() - make_interval(mins => ${IN_FLIGHT_MINUTES})`
  await database.query(sql.unsafe`
    with ${forgetResults(customer, keys)}, gone as (delete from objects where ${isTheirs} and ${settled}),
      unhashed as (
        delete from image_hashes using objects where object_key = key and ${isTheirs} and not ${settled})
    update objects set external_user_id = null, generation_id = null, expires_at = now() + make_interval(mins => ${IN_FLIGHT_MINUTES})
    where ${isTheirs} and not ${settled}`)
}

/** The CTE `forgotten`: an object whose row stays for a sweep is the result of no generation, and found by no further batch. */
function forgetResults(customer: Customer, keys: readonly string[]) {
  return sql.fragment`forgotten as (
    update generations set result_key = null, results = null
    where ${isGenerationOf(customer)}
      and id in (select generation_id from objects where key = any(${sql.array([...keys], 'text')})))`
}

/**
 * Whether a row of `images` belongs to the customer: uploaded for them, or uploaded without an owner and used by their
 * generations only, also as a mask. A photo that generations of other end users, or of none, use as well is not deleted.
 */
function isImageOf(customer: Customer) {
  const { accountId } = customer
  return sql.fragment`images.id in (
      select id from images where ${isOf(customer)}
      union all
      select free.id
      from (
        select image_id from generations where ${isOf(customer)}
        union all
        select mask_image_id from generations where ${isOf(customer)} and mask_image_id is not null
      ) as used
        join images as free on free.id = used.image_id and free.account_id = ${accountId} and free.external_user_id is null
      where not exists (
        select from generations as other
        where (other.image_id = free.id or other.mask_image_id = free.id)
          and (other.external_user_id = any(${idsOf(customer)})) is not true))`
}
