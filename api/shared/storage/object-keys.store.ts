import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'

const ObjectKeyRow = Type.Object({
  key: Type.String(),
  /**
   * Whether bytes of the object should exist: the row is old enough for the bytes to have arrived, and not due for
   * deletion.
   */
  hasBytes: Type.Boolean(),
})
const Key = rowType(Type.Object({ key: Type.String() }))
const Task = rowType(Type.Object({ name: Type.String() }))

interface ListedObject {
  readonly key: string
  readonly bytes: number
}

/** Name of the task in `recurring_tasks`. */
const TASK = 'reconcile storage'

export type ObjectKeys = ReturnType<typeof createObjectKeys>

/** Compares rows of `objects` with the objects that the storage lists. */
export function createObjectKeys(database: Database) {
  return {
    /** At most `limit` rows with keys after one key and up to another (null: up to the last), in byte order. */
    findBetween: (
      { after, upTo }: { after: string; upTo: string | null },
      { graceMinutes, limit }: { graceMinutes: number; limit: number },
    ) =>
      database.any(sql.type(rowType(ObjectKeyRow))`
        select key, bytes is not null and (expires_at is null or expires_at > now())
          and created_at <= now() - make_interval(mins => ${graceMinutes}) as "hasBytes"
        from objects
        where key collate "C" > ${after} and (${upTo}::text is null or key collate "C" <= ${upTo}::text)
        order by key collate "C" limit ${limit}`),

    /**
     * Records objects without a row as due now, so that a sweep deletes them unless they are held or claimed meanwhile.
     * Skips objects of unknown accounts. Returns the recorded keys.
     */
    adopt: (objects: readonly ListedObject[]): Promise<readonly string[]> =>
      database.anyFirst(sql.type(Key)`
        insert into objects (key, account_id, kind, bytes, expires_at)
        select orphan.key, accounts.id, orphan.kind, orphan.bytes, now() from ${readKeys(objects)}
        where orphan.kind is not null
        on conflict (key) do nothing
        returning key`),

    /** Counts the objects of unknown accounts, which `adopt` would not record. */
    countForeign: async (objects: readonly ListedObject[]): Promise<number> => {
      const known = await database.anyFirst(sql.type(Key)`
        select orphan.key from ${readKeys(objects)} where orphan.kind is not null`)
      return objects.length - known.length
    },

    /** Makes rows with missing bytes due now. Returns the count. */
    expire: async (keys: readonly string[], graceMinutes: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set expires_at = now()
        where key = any(${sql.array([...keys], 'text')}) and (expires_at is null or expires_at > now())
          and created_at <= now() - make_interval(mins => ${graceMinutes})`)
      return rowCount
    },

    /** Whether the caller should reconcile now: no process has started within these hours. */
    claimTask: async (everyHours: number): Promise<boolean> => {
      const claimed = await database.maybeOne(sql.type(Task)`
        insert into recurring_tasks as known (name, started_at) values (${TASK}, now())
        on conflict (name) do update set started_at = now()
        where known.started_at <= now() - make_interval(hours => ${everyHours})
        returning name`)
      return claimed !== null
    },

    /** Lets the next caller reconcile immediately, because the last run failed. */
    releaseTask: async (): Promise<void> => {
      await database.query(sql.unsafe`delete from recurring_tasks where name = ${TASK}`)
    },
  }
}

/** The listed objects as `orphan`, with the kind and the account in each key. */
function readKeys(objects: readonly ListedObject[]) {
  const keys = sql.array(
    objects.map(({ key }) => key),
    'text',
  )
  const bytes = sql.array(
    objects.map((object) => object.bytes),
    'int8',
  )
  return sql.fragment`(
      select key, bytes, regexp_replace(key, '^held/', '') as path,
        case split_part(regexp_replace(key, '^held/', ''), '/', 1)
          when 'persons' then 'person' when 'results' then 'result' when 'products' then 'product' when 'logos' then 'logo'
        end as kind
      from unnest(${keys}, ${bytes}) as listed (key, bytes)
    ) as orphan join accounts on accounts.id = split_part(orphan.path, '/', 2)`
}
