import { Nullable, Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import { isLive } from '../database/product-merge.store.ts'
import { deleteUnlessRefused } from '../storage/object.ts'
import { isHeld, lockHolds } from './legal-holds.store.ts'

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

const DueRow = rowType(Type.Object({ key: Type.String(), bytes: Nullable(Type.Integer()), dueAt: Type.String() }))
const Overdue = rowType(
  Type.Object({ due: Type.Integer(), held: Type.Integer(), oldestSeconds: Nullable(Type.Number()) }),
)

/** An expired object. */
export interface DueObject {
  readonly key: string
  /** Size in bytes; null when unknown. */
  readonly bytes: number | null
}

/** Where a batch of due objects ended, in the order of their due dates and keys. */
export interface DueCursor {
  readonly dueAt: string
  readonly key: string
}

interface DeletionOptions {
  readonly limit: number
  /** Only objects after the batch that ended here: the storage refused to delete some of them. */
  readonly after?: DueCursor | null
  /** The youngest due objects, and not the oldest ones. */
  readonly youngest?: boolean
  readonly deleteBytes: (keys: readonly string[]) => Promise<void>
}

export interface DeletedBatch {
  readonly deleted: readonly DueObject[]
  readonly refused: number
  readonly last: DueCursor | null
}

export type DueObjects = ReturnType<typeof createDueObjects>

/** Store of expired objects. Never finds or deletes objects under a legal hold. */
export function createDueObjects(database: Database) {
  return {
    /**
     * Deletes at most `limit` due objects and their images: bytes by `deleteBytes`, then rows. Locks the rows until
     * both are deleted, so that no call can claim them meanwhile. Returns the objects, and the count of those that the
     * storage refused to delete: they stay due. `last` is the end of the batch; null when no object is due. Safe to run
     * concurrently.
     */
    delete: (
      selection: DueSelection,
      { limit, after = null, youngest = false, deleteBytes }: DeletionOptions,
    ): Promise<DeletedBatch> =>
      database.transaction(async (transaction) => {
        await transaction.query(lockHolds)
        const rows = await transaction.any(sql.type(DueRow)`
          select key, bytes, (${dueAt(selection)})::text as "dueAt" from objects
          where ${isDue(selection)} and not ${isHeld} and ${isAfter(selection, after)}
          order by ${youngest ? sql.fragment`${dueAt(selection)} desc, key desc` : sql.fragment`${dueAt(selection)}, key`}
          limit ${limit} for update skip locked`)
        const last = rows.at(-1) ?? null
        if (last === null) return { deleted: [], refused: 0, last }
        const refused = await deleteUnlessRefused(
          rows.map(({ key }) => key),
          deleteBytes,
        )
        const deleted = rows.filter(({ key }) => !refused.has(key))
        const keys = deleted.map(({ key }) => key)
        await transaction.query(sql.unsafe`delete from objects where key = any(${sql.array(keys, 'text')})`)
        return { deleted, refused: refused.size, last }
      }),

    /** At most `limit` due objects. */
    find: (selection: DueSelection, limit: number): Promise<readonly DueObject[]> =>
      database.any(sql.type(DueRow)`
        select key, bytes, (${dueAt(selection)})::text as "dueAt" from objects where ${isDue(selection)} and not ${isHeld}
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

function isAfter(selection: DueSelection, after: DueCursor | null) {
  if (after === null) return sql.fragment`true`
  return sql.fragment`(${dueAt(selection)}, objects.key) > (${after.dueAt}::timestamptz, ${after.key})`
}

function isDue({ ttlSeconds, graceSeconds = 0, kinds, accounts }: DueSelection) {
  const isSelected = sql.fragment`(${kinds.length === 0} or objects.kind = any(${sql.array([...kinds], 'text')}))
    and (${accounts.length === 0} or objects.account_id = any(${sql.array([...accounts], 'text')}))`
  if (ttlSeconds === null)
    return sql.fragment`objects.expires_at <= now() - make_interval(secs => ${graceSeconds}) and ${isSelected}`
  return sql.fragment`objects.created_at <= now() - make_interval(secs => ${ttlSeconds + graceSeconds}) and ${isSelected}
    and not ${isAwaited} and not ${isOfProduct}`
}

/** Whether an unfinished generation needs the photo or its mask. */
const isAwaited = sql.fragment`(exists (
      select from images join generations on generations.image_id = images.id
      where images.object_key = objects.key and generations.status in ('PENDING', 'PROCESSING'))
    or exists (select from generations where id = objects.generation_id and status in ('PENDING', 'PROCESSING')))`

/** Whether the object is an image of an existing product, sent or fetched, or was just sent for a product. */
const isOfProduct = sql.fragment`(objects.kind = 'product' and (
      coalesce(objects.expires_at > now(), false)
      or exists (select from products where products.id = split_part(objects.key, '/', 3) and ${isLive})
      or exists (
        select from products
        where products.account_id = objects.account_id and jsonb_path_exists(products.images, '$[*].objectKey')
          and products.images @> jsonb_build_array(jsonb_build_object('objectKey', objects.key)) and ${isLive})))`
