import { Nullable, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { ERASURE_FOLDER } from '../shared/storage/reconcile-storage.ts'

const Key = rowType(Type.Object({ key: Type.String() }))
const Start = rowType(Type.Object({ start: Nullable(Type.String()) }))
const Locked = rowType(Type.Object({ isLocked: Type.Boolean() }))

const LOCK = 7_201_430_130

/** The clock of a database can be behind that of its predecessor, whose entries are then newer than those that follow them. */
const OVERLAP_DAYS = 7

export type AppliedErasures = ReturnType<typeof createAppliedErasures>

/** Entries of the erasure log that the database reflects, by the keys of their objects. */
export function createAppliedErasures(database: Database) {
  return {
    /**
     * Key after which to read the log: a week before the newest entry that is not in the future; null without entries, for the
     * whole log. One entry with a wrong time must not hide those that follow.
     */
    findStart: (): Promise<string | null> =>
      database.oneFirst(sql.type(Start)`
        select ${ERASURE_FOLDER}::text || to_char(max(substr(log_key, ${ERASURE_FOLDER.length + 1}, 10))::date - ${OVERLAP_DAYS}::int, 'YYYY-MM-DD')
          as start
        from applied_erasures
        where log_key < ${ERASURE_FOLDER}::text || to_char((clock_timestamp() at time zone 'UTC')::date + 1, 'YYYY-MM-DD')`),

    /** The keys among these whose entries are applied. */
    findApplied: async (keys: readonly string[]): Promise<ReadonlySet<string>> =>
      new Set(
        await database.anyFirst(sql.type(Key)`
          select log_key as key from applied_erasures where log_key = any(${sql.array([...keys], 'text')})`),
      ),

    /** MUST be called when the erasures of the entries have deleted everything, oldest entries first. */
    insert: (keys: readonly string[]): Promise<void> => insertApplied(database, keys),

    /** Deletes entries that `findStart` will never return again. */
    deleteBefore: async (start: string): Promise<void> => {
      await database.query(sql.unsafe`delete from applied_erasures where log_key < ${start}`)
    },

    /** Runs the work, or returns null if another process is running it. Occupies a connection. */
    whileLocked: async <T>(work: () => Promise<T>): Promise<T | null> => {
      const locked = Promise.withResolvers<boolean>()
      const ended = Promise.withResolvers<void>()
      // This transaction holds only the lock, so completed work is kept after a failure. If the connection is lost, another
      // process may do the same work at the same time, which is safe.
      const holding = database.transaction(async (transaction) => {
        await transaction.query(sql.unsafe`select set_config('idle_in_transaction_session_timeout', '0', true)`)
        const isLocked = await transaction.oneFirst(
          sql.type(Locked)`select pg_try_advisory_xact_lock(${LOCK}::bigint) as "isLocked"`,
        )
        locked.resolve(isLocked)
        if (isLocked) await ended.promise
      })
      holding.catch(locked.reject)
      try {
        return (await locked.promise) ? await work() : null
      } finally {
        ended.resolve()
        await holding.catch(() => {})
      }
    },
  }
}

export async function insertApplied(database: Pick<Database, 'query'>, keys: readonly string[]): Promise<void> {
  await database.query(sql.unsafe`
    insert into applied_erasures (log_key) select unnest(${sql.array([...keys], 'text')}) on conflict do nothing`)
}
