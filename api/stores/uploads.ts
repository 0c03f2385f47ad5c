import { type Database, rowType, sql } from '../shared/database/database.ts'
import { Nullable, Type } from '../shared/schema.ts'

const UploadRow = rowType(Type.Object({ externalUserId: Nullable(Type.String()) }))

const CLAIM_SECONDS = 60

/** All that one upload can ever make: one object, and one image. */
export interface UploadNames {
  readonly objectKey: string
  readonly imageId: string
}

export type Uploads = ReturnType<typeof createUploads>

/** Bytes that browsers send before they say that the upload is complete: objects of the kind `upload`. */
export function createUploads(database: Database) {
  // Erased ones have lost their owner, and stay for a while.
  const isThere = ({ objectKey }: UploadNames) => sql.fragment`
    key = ${objectKey} and kind = 'upload' and external_user_id is not null and expires_at > now()`

  return {
    /**
     * MUST be called before the bytes are put: erasure knows by the date of the row that they may be on their way. False when the
     * upload has become an image, is erased or past its time.
     */
    receive: async (upload: UploadNames, bytes: number): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set created_at = now_ms(), bytes = ${bytes}
        where ${isThere(upload)} and not exists (select from images where id = ${upload.imageId})`)
      return rowCount > 0
    },

    /**
     * Claims the upload for one replica, which alone makes it a photo. False while another claim lasts, which ends by itself after a
     * minute: its replica may have died.
     */
    claim: async (upload: UploadNames): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
        where ${isThere(upload)} and (claimed_until is null or claimed_until <= now())`)
      return rowCount > 0
    },

    release: async ({ objectKey }: UploadNames): Promise<void> => {
      await database.query(sql.unsafe`update objects set claimed_until = null where key = ${objectKey}`)
    },

    /** Removes the owner from a photo that was discarded: nothing may name a shopper who has withdrawn until a sweep deletes the row. */
    disown: async (objectKey: string): Promise<void> => {
      await database.query(sql.unsafe`update objects set external_user_id = null where key = ${objectKey}`)
    },

    /** Whose upload it is; null when it is none, or none any more. */
    findOwner: async (upload: UploadNames): Promise<string | null> =>
      database.maybeOneFirst(sql.type(UploadRow)`
        select external_user_id as "externalUserId" from objects where ${isThere(upload)}`),
  }
}
