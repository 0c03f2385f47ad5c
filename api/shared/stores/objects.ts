import { byDatabaseClock, type Database, rowType, sql } from '../database/database.ts'
import { Nullable, Type } from '../schema.ts'

export interface NewObject {
  readonly key: string
  readonly accountId: string
  readonly externalUserId: string | null
  readonly kind: 'person' | 'product' | 'result' | 'logo' | 'upload'
  /** How large it is; null when its bytes come later. */
  readonly bytes: number | null
  /** When a sweep may delete it; null keeps it as long as something refers to it. */
  readonly expiresAt: Date | null
}

export interface NewResult {
  readonly key: string
  /** How large it is. */
  readonly bytes: number
  /** The generation, and its attempt. */
  readonly id: string
  readonly attempt: number
}

const FoundObject = rowType(
  Type.Object({ accountId: Type.String(), externalUserId: Nullable(Type.String()), kind: Type.String() }),
)

const StoredKey = rowType(Type.Object({ key: Type.String() }))

const StoredBytes = rowType(Type.Object({ bytes: Type.Integer() }))

export type Objects = ReturnType<typeof createObjects>

/** The record of every key in the object storage. */
export function createObjects(database: Database) {
  return {
    /**
     * MUST be called before the bytes are put: an object without a row is never swept nor erased. One that is there already
     * lives as long as the longer of both dates says.
     */
    insert: async (object: NewObject): Promise<void> => {
      await database.query(sql.unsafe`
        insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
        values (${object.key}, ${object.accountId}, ${object.externalUserId}, ${object.kind}, ${object.bytes},
          ${object.expiresAt ? byDatabaseClock(object.expiresAt) : null})
        on conflict (key) do update set bytes = coalesce(excluded.bytes, objects.bytes),
          expires_at = case when objects.expires_at is not null then greatest(objects.expires_at, excluded.expires_at) end
        where objects.expires_at is not null or objects.bytes is distinct from excluded.bytes`)
    },
    /**
     * The stored product image of the account under one of these keys, kept for at least an hour more; null when there is none.
     */
    keepProduct: ({ accountId, keys }: { accountId: string; keys: readonly string[] }): Promise<string | null> =>
      database.maybeOneFirst(sql.type(StoredKey)`
        update objects
        set expires_at = case when expires_at is not null then greatest(expires_at, now_ms() + interval '1 hour') end
        where key = any(${sql.array([...keys], 'text')}) and account_id = ${accountId} and kind = 'product'
          and (expires_at is null or expires_at > now())
        returning key`),
    /**
     * Records a result before its bytes are put; false when the attempt is over. Until it is completed the row lasts as long as
     * a worker may need to store it, so that what a dead one left is swept.
     */
    insertResult: async ({ key, bytes, id, attempt }: NewResult): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
        select ${key}, account_id, external_user_id, 'result', ${bytes}::bigint, now() + interval '1 hour'
        from generations where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
        -- A concurrent end of the attempt waits, and then finds this row.
        for update
        on conflict (key) do update set expires_at = excluded.expires_at, bytes = excluded.bytes`)
      return rowCount > 0
    },
    /** Null also for one that is past its time. */
    find: (key: string) =>
      database.maybeOne(sql.type(FoundObject)`
        select account_id as "accountId", external_user_id as "externalUserId", kind from objects
        where key = ${key} and (expires_at is null or expires_at > now())`),
    /** Bytes that an account stores; objects whose size is not known count as 0. */
    sumBytes: (accountId: string): Promise<number> =>
      database.oneFirst(sql.type(StoredBytes)`
        select coalesce(sum(bytes), 0)::bigint as bytes from objects where account_id = ${accountId}`),
    delete: async (key: string): Promise<void> => {
      await database.query(sql.unsafe`delete from objects where key = ${key}`)
    },
  }
}
