import type { ValueExpression } from 'slonik'
import { type Static, Type } from '../contract/schema.ts'
import { byDatabaseClock, type Database, rowType, sql, Timestamp } from '../database/database.ts'
import { type Prepared, RectangleSchema } from '../generations/generation.ts'
import { insertHash } from './image-hashes.store.ts'

const ImageRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  objectKey: Type.String(),
  externalUserId: Type.Union([Type.String(), Type.Null()]),
  width: Type.Integer(),
  height: Type.Integer(),
  cropMode: Type.Enum(['auto', 'none']),
  crop: Type.Union([RectangleSchema, Type.Null()]),
  personDetected: Type.Union([Type.Boolean(), Type.Null()]),
  warnings: Type.Array(Type.String()),
  expiresAt: Timestamp,
})
export type ImageRecord = Static<typeof ImageRow>

/**
 * Whether the photo in a row of `table` belongs to one of the owners, an array of SQL, or to nobody: then the server of the account
 * uploaded it for all.
 */
export function isUsableBy(owners: ValueExpression, table: 'image' | 'images') {
  const owner = sql.identifier([table, 'external_user_id'])
  return sql.fragment`(${owner} is null or ${owner} = any(${owners}) or ${sql.identifier([table, 'address_user_id'])} = any(${owners}))`
}

/** Covers bytes that arrive after the upload was given up. */
const ABANDONED_MINUTES = 60

const AbandonedKey = rowType(Type.Object({ key: Type.String() }))

export type Images = ReturnType<typeof createImages>

/** Store of photos of persons. */
export function createImages(database: Database) {
  return {
    /**
     * Writes the object's row and the image's row in one statement, before the bytes are uploaded. With an existing ID
     * it keeps the existing image and revives an abandoned object. Returns false, and stores nothing, if the end user was erased while the
     * call waited.
     */
    insert: async (image: {
      id: string
      accountId: string
      objectKey: string
      /** Stored size in bytes. */
      bytes: number
      /** Perceptual hash; null when the photo has none. */
      hash?: string | null
      externalUserId: string | null
      /** A second owner, who can use the photo and nothing else. */
      addressUserId?: string | null
      width: number
      height: number
      cropMode: 'auto' | 'none'
      /** Retention in days from the call; null: the retention of the account. */
      keepForDays?: number | null
      expiresAt: Date
      /** Since the call arrived. */
      waitedSeconds?: number
    }): Promise<boolean> => {
      const expiresAt = byDatabaseClock(image.expiresAt)
      const { rowCount } = await database.query(sql.unsafe`
        with object as (
          insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
          select ${image.objectKey}, ${image.accountId}, ${image.externalUserId}::text, 'person', ${image.bytes}::bigint, ${expiresAt}
          where not was_erased_since(${image.accountId}, ${image.externalUserId},
            now() - make_interval(secs => ${image.waitedSeconds ?? 0}::float8))
          on conflict (key) do update set created_at = now_ms(), bytes = excluded.bytes,
            expires_at = greatest(objects.expires_at, excluded.expires_at)
          returning key
        ), ${insertHash(sql.fragment`object`, image.hash)}
        insert into images (id, account_id, object_key, external_user_id, address_user_id, width, height, crop_mode, keep_for_days,
          expires_at)
        select ${image.id}, ${image.accountId}, key, ${image.externalUserId}::text, ${image.addressUserId ?? null}::text,
          ${image.width}::int, ${image.height}::int, ${image.cropMode}, ${image.keepForDays ?? null}::int, ${expiresAt}
        from object
        on conflict (id) do update set id = excluded.id`)
      return rowCount > 0
    },

    find: (id: string): Promise<ImageRecord | null> =>
      database.maybeOne(sql.type(rowType(ImageRow))`
        select id, account_id as "accountId", object_key as "objectKey", external_user_id as "externalUserId", width, height,
          crop_mode as "cropMode", crop, person_detected as "personDetected", warnings, expires_at as "expiresAt"
        from images where id = ${id}`),

    /**
     * Records the key of the cropped view, with the photo's owner and expiry, before its bytes are uploaded. Returns
     * false when the photo no longer exists.
     */
    insertView: async (view: {
      imageId: string
      viewKey: string
      bytes: number
      /** Perceptual hash; null when the view has none. */
      hash?: string | null
    }): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        with object as (
          insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
          select ${view.viewKey}, account_id, external_user_id, 'person', ${view.bytes}::bigint, expires_at from images
          where id = ${view.imageId}
          -- A concurrent deletion of the photo waits for this lock and then finds this row.
          for share
          on conflict (key) do update set expires_at = excluded.expires_at, bytes = excluded.bytes
          returning key
        ), ${insertHash(sql.fragment`object`, view.hash)}
        select from object`)
      return rowCount > 0
    },

    /** Stores a worker's findings; the first findings stay. Returns false when the photo no longer exists. */
    savePrepared: async (id: string, { crop, personDetected, warnings }: Prepared): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update images
        set crop = case when person_detected is null then ${crop ? sql.jsonb({ ...crop }) : null} else crop end,
            warnings = case when person_detected is null then ${sql.jsonb([...warnings])} else warnings end,
            person_detected = coalesce(person_detected, ${personDetected})
        where id = ${id}`)
      return rowCount > 0
    },

    /**
     * Deletes an image but not the record of its object: the bytes may still arrive, and a sweep deletes both an hour
     * later. Returns the key of the object; null for an unknown image.
     */
    abandon: (id: string): Promise<string | null> =>
      database.maybeOneFirst(sql.type(AbandonedKey)`
        with image as (delete from images where id = ${id} returning object_key)
        update objects set expires_at = least(expires_at, now() + make_interval(mins => ${ABANDONED_MINUTES})), bytes = 0
        from image where key = object_key
        returning key`),
  }
}
