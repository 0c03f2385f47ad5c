import { type Database, rowType, sql } from '../shared/database.ts'
import { Nullable, Type } from '../shared/schema.ts'

const UploadRow = rowType(Type.Object({ externalUserId: Nullable(Type.String()) }))

/** An upload that has an image is complete; the image stands here by its id. */
interface UploadName {
  readonly objectKey: string
  readonly imageId: string
}

export type Uploads = ReturnType<typeof createUploads>

/** Bytes that browsers send before they say that the upload is complete: objects of the kind `upload`. */
export function createUploads(database: Database) {
  const isOpen = ({ objectKey, imageId }: UploadName) => sql.fragment`
    key = ${objectKey} and kind = 'upload' and external_user_id is not null and expires_at > now()
    and not exists (select from images where id = ${imageId})`

  return {
    /**
     * MUST be called before bytes are put: erasure knows by the date of the row that they may be on their way. False when the
     * upload is complete, erased or past its time.
     */
    receive: async (upload: UploadName): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set created_at = now_ms() where ${isOpen(upload)}`)
      return rowCount > 0
    },

    /** Whose upload it is, while it is not complete. */
    find: (upload: UploadName) =>
      database.maybeOne(sql.type(UploadRow)`
        select external_user_id as "externalUserId" from objects where ${isOpen(upload)}`),
  }
}
