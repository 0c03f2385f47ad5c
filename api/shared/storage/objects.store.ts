import { Nullable, Type } from '../contract/schema.ts'
import { byDatabaseClock, type Database, rowType, sql } from '../database/database.ts'
import { insertHash } from '../image/image-hashes.store.ts'

export interface NewObject {
  readonly key: string
  readonly accountId: string
  readonly externalUserId: string | null
  readonly kind: 'person' | 'product' | 'result' | 'logo' | 'upload'
  /** Size in bytes; null when the bytes come later. */
  readonly bytes: number | null
  /** When a sweep may delete the object; null: as long as it is referenced. */
  readonly expiresAt: Date | null
}

export interface NewResult {
  readonly key: string
  /** Size in bytes. */
  readonly bytes: number
  /** Perceptual hash; null when the image has none. */
  readonly hash?: string | null
  /** ID of the generation; `attempt` is its attempt. */
  readonly id: string
  readonly attempt: number
}

const FoundObject = rowType(
  Type.Object({ accountId: Type.String(), externalUserId: Nullable(Type.String()), kind: Type.String() }),
)

export interface NewMask extends Pick<NewObject, 'key' | 'accountId'> {
  readonly generationId: string
  /** Of the photo. */
  readonly imageId: string
  readonly width: number
  readonly height: number
  /** Size in bytes. */
  readonly bytes: number
}

const MaskedPhoto = rowType(Type.Object({ width: Type.Integer(), height: Type.Integer(), isFitting: Type.Boolean() }))

const StoredKey = rowType(Type.Object({ key: Type.String() }))

const StoredBytes = rowType(Type.Object({ bytes: Type.Integer() }))

export type Objects = ReturnType<typeof createObjects>

/** Store of the record of every object key. */
export function createObjects(database: Database) {
  return {
    /**
     * MUST be called before the bytes are uploaded: an object without a row is never swept nor erased. An existing
     * object gets the later of both expiry dates.
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
     * The account's stored product image with one of these keys, kept for at least 1 more hour; null when there is
     * none.
     */
    keepProduct: ({ accountId, keys }: { accountId: string; keys: readonly string[] }): Promise<string | null> =>
      database.maybeOneFirst(sql.type(StoredKey)`
        update objects
        set expires_at = case when expires_at is not null then greatest(expires_at, now_ms() + interval '1 hour') end
        where key = any(${sql.array([...keys], 'text')}) and account_id = ${accountId} and kind = 'product'
          and (expires_at is null or expires_at > now())
        returning key`),
    /**
     * Records a result before its bytes are uploaded; false when the attempt has ended. Until completion the row
     * expires when no worker can still store it, so that results of dead workers are swept.
     */
    insertResult: async ({ key, bytes, hash, id, attempt }: NewResult): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        with object as (
          insert into objects (key, account_id, external_user_id, generation_id, kind, bytes, expires_at)
          select ${key}, account_id, external_user_id, id, 'result', ${bytes}::bigint, now() + interval '1 hour'
          from generations where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
          -- A concurrent end of the attempt waits for this lock and then finds this row.
          for update
          on conflict (key) do update set expires_at = excluded.expires_at, bytes = excluded.bytes
          returning key
        ), ${insertHash(sql.fragment`object`, hash)}
        select from object`)
      return rowCount > 0
    },
    /**
     * Records the mask of a photo before its bytes are uploaded, for a generation that is not accepted yet. Returns the size of the photo,
     * and whether the mask has its aspect ratio, without which nothing is recorded; null if the account has no such photo.
     */
    insertMask: ({ key, accountId, generationId, imageId, width, height, bytes }: NewMask) =>
      database.maybeOne(sql.type(MaskedPhoto)`
        with photo as (
          select width, height from images where id = ${imageId} and account_id = ${accountId} and expires_at > now()
        ), stored as (
          insert into objects (key, account_id, generation_id, kind, bytes, expires_at)
          select ${key}, ${accountId}, ${generationId}, 'person', ${bytes}::bigint, now() + interval '1 hour' from photo
          -- Both sides of both images were rounded to whole pixels.
          where abs(${width}::float8 / width - ${height}::float8 / height)
            <= (1.0 / width + 1.0 / height) * greatest(1, ${width}::float8 / width)
          returning key
        )
        select width, height, exists (select from stored) as "isFitting" from photo`),
    /** Null also for an expired object. */
    find: (key: string) =>
      database.maybeOne(sql.type(FoundObject)`
        select account_id as "accountId", external_user_id as "externalUserId", kind from objects
        where key = ${key} and (expires_at is null or expires_at > now())`),
    /** Bytes that an account stores; unknown sizes count as 0. */
    sumBytes: (accountId: string): Promise<number> =>
      database.oneFirst(sql.type(StoredBytes)`
        select coalesce(sum(bytes), 0)::bigint as bytes from objects where account_id = ${accountId}`),
    delete: async (key: string): Promise<void> => {
      await database.query(sql.unsafe`delete from objects where key = ${key}`)
    },
  }
}
