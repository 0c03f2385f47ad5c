import { type Database, rowType, sql } from '../database/database.ts'
import { Nullable, Type } from '../schema.ts'
import { deleteUnlessRefused } from '../storage/object.ts'
import { isHeld, lockHolds } from './legal-holds.ts'
import { isLive } from './product-merge.ts'

export interface DueSelection {
  /** Seconds after its creation at which an object is due. Null: at the object's own expiry. */
  readonly ttlSeconds: number | null
  /** Additional seconds after which an object is due. Default 0. */
  readonly graceSeconds?: number
  /** Kinds of objects. Empty: all kinds. */
  readonly kinds: readonly string[]
  /** Accounts. Empty: all accounts. */
  readonly accounts: readonly string[]
}

const DueRow = rowType(Type.Object({ key: Type.String(), bytes: Nullable(Type.Integer()) }))
const Overdue = rowType(
  Type.Object({ due: Type.Integer(), held: Type.Integer(), oldestSeconds: Nullable(Type.Number()) }),
)

/** An expired object. */
export interface DueObject {
  readonly key: string
  /** Size in bytes; null when unknown. */
  readonly bytes: number | null
}

interface DeletionOptions {
  readonly limit: number
  readonly skip?: number
  readonly deleteBytes: (keys: readonly string[]) => Promise<void>
}

export type DueObjects = ReturnType<typeof createDueObjects>

/** Store of expired objects. Never finds or deletes objects under a legal hold. */
export function createDueObjects(database: Database) {
  return {
    /**
     * Deletes at most `limit` due objects and their images: bytes by `deleteBytes`, then rows. Locks the rows until
     * both are deleted, so that no call can claim them meanwhile. Returns the objects, and the count of those that the
     * storage refused to delete: they stay due. `skip`: count of the oldest due objects to leave out, which earlier
     * calls could not delete. Safe to run concurrently.
     */
    delete: (
      selection: DueSelection,
      { limit, skip = 0, deleteBytes }: DeletionOptions,
    ): Promise<{ readonly deleted: readonly DueObject[]; readonly refused: number }> =>
      database.transaction(async (transaction) => {
        await transaction.query(lockHolds)
        const rows = await transaction.any(sql.type(DueRow)`
          select key, bytes from objects where ${isDue(selection)} and not ${isHeld}
          order by ${dueAt(selection)}, key limit ${limit} offset ${skip} for update skip locked`)
        if (rows.length === 0) return { deleted: rows, refused: 0 }
        const refused = await deleteUnlessRefused(
          rows.map(({ key }) => key),
          deleteBytes,
        )
        const deleted = rows.filter(({ key }) => !refused.has(key))
        const keys = deleted.map(({ key }) => key)
        await transaction.query(sql.unsafe`delete from objects where key = any(${sql.array(keys, 'text')})`)
        return { deleted, refused: refused.size }
      }),

    /** At most `limit` due objects. */
    find: (selection: DueSelection, limit: number): Promise<readonly DueObject[]> =>
      database.any(sql.type(DueRow)`
        select key, bytes from objects where ${isDue(selection)} and not ${isHeld}
        order by ${dueAt(selection)} limit ${limit}`),

    /** Count of due objects, count of held objects, and the seconds since the oldest due object expired. */
    measure: (selection: DueSelection) =>
      database.one(sql.type(Overdue)`
        select count(*) filter (where not held) as due, count(*) filter (where held) as held,
          extract(epoch from now() - min(due_at) filter (where not held))::float8 as "oldestSeconds"
        from (select ${dueAt(selection)} as due_at, ${isHeld} as held from objects where ${isDue(selection)}) as found`),
  }
}

/** Total size in bytes; unknown sizes count as 0. */
export function bytesOf(objects: readonly DueObject[]): number {
  return objects.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
}

function dueAt({ ttlSeconds }: DueSelection) {
  if (ttlSeconds === null) return sql.fragment`objects.expires_at`
  return sql.fragment`objects.created_at + make_interval(secs => ${ttlSeconds})`
}

function isDue({ ttlSeconds, graceSeconds = 0, kinds, accounts }: DueSelection) {
  const isSelected = sql.fragment`(${kinds.length === 0} or objects.kind = any(${sql.array([...kinds], 'text')}))
    and (${accounts.length === 0} or objects.account_id = any(${sql.array([...accounts], 'text')}))`
  if (ttlSeconds === null)
    return sql.fragment`objects.expires_at <= now() - make_interval(secs => ${graceSeconds}) and ${isSelected}`
  return sql.fragment`objects.created_at <= now() - make_interval(secs => ${ttlSeconds + graceSeconds}) and ${isSelected}
    and not ${isAwaited} and not ${isOfProduct}`
}

/** Whether an unfinished generation needs the photo. */
const isAwaited = sql.fragment`exists (
      select from images join generations on generations.image_id = images.id
      where images.object_key = objects.key and generations.status in ('PENDING', 'PROCESSING'))`

/** Whether the object is an image of an existing product, sent or fetched, or was just sent for a product. */
const isOfProduct = sql.fragment`(objects.kind = 'product' and (
      coalesce(objects.expires_at > now(), false)
      or exists (select from products where products.id = split_part(objects.key, '/', 3) and ${isLive})
      or exists (
        select from products
        where products.account_id = objects.account_id and jsonb_path_exists(products.images, '$[*].objectKey')
          and products.images @> jsonb_build_array(jsonb_build_object('objectKey', objects.key)) and ${isLive})))`
