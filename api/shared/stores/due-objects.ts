import { type Database, rowType, sql } from '../database.ts'
import { Nullable, Type } from '../schema.ts'

/** Whose objects must be kept. */
export interface Hold {
  readonly accountId: string
  /** One customer of the account; all when missing. */
  readonly externalUserId?: string
}

/** Objects that may not live longer than so long after they were stored, whatever their own date says. */
export interface Lifetime {
  readonly ttlSeconds: number
  readonly kinds: readonly string[]
  /** All when empty. */
  readonly accounts: readonly string[]
}

export interface DueSelection {
  /** Those past their own date where this is null. */
  readonly lifetime: Lifetime | null
  readonly holds: readonly Hold[]
}

const DueRow = rowType(Type.Object({ key: Type.String(), bytes: Nullable(Type.Integer()) }))
const Overdue = rowType(
  Type.Object({ due: Type.Integer(), held: Type.Integer(), oldestSeconds: Nullable(Type.Number()) }),
)

/** An object whose time is over. */
export interface DueObject {
  readonly key: string
  /** How large it is; null where nobody knows. */
  readonly bytes: number | null
}

export type DueObjects = ReturnType<typeof createDueObjects>

/** Objects whose time is over. */
export function createDueObjects(database: Database) {
  return {
    /**
     * Deletes at most `limit` of them, and the images that lie in them: bytes by `deleteBytes`, then rows. Their rows are locked
     * until both are gone, so that nobody claims what is being deleted. Returns them. Several may do so at once.
     */
    delete: (
      selection: DueSelection,
      { limit, deleteBytes }: { limit: number; deleteBytes: (keys: readonly string[]) => Promise<void> },
    ): Promise<readonly DueObject[]> =>
      database.transaction(async (transaction) => {
        const rows = await transaction.any(sql.type(DueRow)`
          select key, bytes from objects where ${isDue(selection)} and not ${isHeld(selection)}
          order by ${dueAt(selection)} limit ${limit} for update skip locked`)
        const keys = rows.map(({ key }) => key)
        if (keys.length === 0) return rows
        await deleteBytes(keys)
        await transaction.query(sql.unsafe`delete from objects where key = any(${sql.array(keys, 'text')})`)
        return rows
      }),

    /** At most `limit` of them. */
    find: (selection: DueSelection, limit: number): Promise<readonly DueObject[]> =>
      database.any(sql.type(DueRow)`
        select key, bytes from objects where ${isDue(selection)} and not ${isHeld(selection)}
        order by ${dueAt(selection)} limit ${limit}`),

    /** How many there are, how many are held, and how long the oldest that is not held has been past its time. */
    measure: (selection: DueSelection) =>
      database.one(sql.type(Overdue)`
        select count(*) filter (where not held) as due, count(*) filter (where held) as held,
          extract(epoch from now() - min(due_at) filter (where not held))::float8 as "oldestSeconds"
        from (select ${dueAt(selection)} as due_at, ${isHeld(selection)} as held from objects where ${isDue(selection)}) as found`),
  }
}

/** How many bytes they are together; those of which nobody knows count nothing. */
export function bytesOf(objects: readonly DueObject[]): number {
  return objects.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
}

function dueAt({ lifetime }: DueSelection) {
  if (lifetime === null) return sql.fragment`expires_at`
  return sql.fragment`created_at + make_interval(secs => ${lifetime.ttlSeconds})`
}

function isDue({ lifetime }: DueSelection) {
  if (lifetime === null) return sql.fragment`expires_at <= now()`
  const { ttlSeconds, kinds, accounts } = lifetime
  return sql.fragment`kind = any(${sql.array([...kinds], 'text')})
    and created_at <= now() - make_interval(secs => ${ttlSeconds})
    and (${accounts.length === 0} or account_id = any(${sql.array([...accounts], 'text')}))
    -- What somebody waits for is needed until it is done.
    and not exists (
      select from images join generations on generations.image_id = images.id
      where images.object_key = objects.key and generations.status in ('PENDING', 'PROCESSING'))`
}

function isHeld({ holds }: DueSelection) {
  const accounts = holds.map(({ accountId }) => accountId)
  const users = holds.map(({ externalUserId }) => externalUserId ?? null)
  return sql.fragment`exists (
    select from unnest(${sql.array(accounts, 'text')}, ${sql.array(users, 'text')}) as holds (held_account, held_user)
    where held_account = account_id and (held_user is null or held_user = external_user_id))`
}
