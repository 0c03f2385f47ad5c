import { byDatabaseClock, type Database, rowType, sql, Timestamp } from '../database/database.ts'
import { type Prepared, RectangleSchema } from '../generation.ts'
import { type Static, Type } from '../schema.ts'

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

/** For bytes that are put after the put was given up. */
const ABANDONED_MINUTES = 60

const AbandonedKey = rowType(Type.Object({ key: Type.String() }))

export type Images = ReturnType<typeof createImages>

/** Photos of persons. */
export function createImages(database: Database) {
  return {
    /**
     * One statement: the object's row and the image's row, before the bytes are put. Again with the same id it keeps the image that
     * exists; an object that was abandoned lives on.
     */
    insert: async (image: {
      id: string
      accountId: string
      objectKey: string
      /** How large the photo is as it is stored. */
      bytes: number
      externalUserId: string | null
      width: number
      height: number
      cropMode: 'auto' | 'none'
      /** The days that the call asked for; null when it left them to the account. */
      keepForDays?: number | null
      expiresAt: Date
    }): Promise<void> => {
      const expiresAt = byDatabaseClock(image.expiresAt)
      await database.query(sql.unsafe`
        with object as (
          insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
          values (${image.objectKey}, ${image.accountId}, ${image.externalUserId}, 'person', ${image.bytes}, ${expiresAt})
          on conflict (key) do update set created_at = now_ms(), bytes = excluded.bytes,
            expires_at = greatest(objects.expires_at, excluded.expires_at)
        )
        insert into images (id, account_id, object_key, external_user_id, width, height, crop_mode, keep_for_days, expires_at)
        values (${image.id}, ${image.accountId}, ${image.objectKey}, ${image.externalUserId}, ${image.width},
          ${image.height}, ${image.cropMode}, ${image.keepForDays ?? null}, ${expiresAt})
        on conflict (id) do nothing`)
    },

    find: (id: string): Promise<ImageRecord | null> =>
      database.maybeOne(sql.type(rowType(ImageRow))`
        select id, account_id as "accountId", object_key as "objectKey", external_user_id as "externalUserId", width, height,
          crop_mode as "cropMode", crop, person_detected as "personDetected", warnings, expires_at as "expiresAt"
        from images where id = ${id}`),

    /** Records the key of the cropped view, with the photo's owner and lifetime, before its bytes; false when the photo is gone. */
    insertView: async (view: { imageId: string; viewKey: string; bytes: number }): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        insert into objects (key, account_id, external_user_id, kind, bytes, expires_at)
        select ${view.viewKey}, account_id, external_user_id, 'person', ${view.bytes}::bigint, expires_at from images
        where id = ${view.imageId}
        -- A concurrent deletion of the photo waits, and then finds this row.
        for share
        on conflict (key) do update set expires_at = excluded.expires_at, bytes = excluded.bytes`)
      return rowCount > 0
    },

    /** Notes what a worker found; the first finding stays. False when the photo is gone. */
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
     * Deletes an image but not the record of its object: the bytes may be on their way, and a sweep deletes both an hour later.
     * Returns the key of the object; null for an unknown image.
     */
    abandon: (id: string): Promise<string | null> =>
      database.maybeOneFirst(sql.type(AbandonedKey)`
        with image as (delete from images where id = ${id} returning object_key)
        update objects set expires_at = least(expires_at, now() + make_interval(mins => ${ABANDONED_MINUTES}))
        from image where key = object_key
        returning key`),
  }
}
