import type { UploadNames } from '../../photos/upload-link.ts'
import { Nullable, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'

const UploadRow = rowType(Type.Object({ externalUserId: Nullable(Type.String()) }))
const ReceivingRow = rowType(Type.Object({ accountId: Type.String(), bytes: Type.Integer() }))

const SumRow = rowType(Type.Object({ bytes: Type.Integer() }))

const CLAIM_SECONDS = 60

export type Uploads = ReturnType<typeof createUploads>

/** Store of direct uploads: bytes that browsers send before they complete the upload. Object kind: `upload`. */
export function createUploads(database: Database) {
  // Erased objects lose their owner immediately and are deleted later.
  const isOpen = ({ objectKey }: UploadNames) => sql.fragment`
    key = ${objectKey} and kind = 'upload' and external_user_id is not null and expires_at > now()`

  const mayReceive = (upload: UploadNames) => sql.fragment`
    ${isOpen(upload)} and not exists (select from images where id = ${upload.imageId})`

  return {
    /** Account and stored bytes of an upload that may receive bytes; null if `receive` would return false. */
    find: (upload: UploadNames) =>
      database.maybeOne(sql.type(ReceivingRow)`
        select account_id as "accountId", coalesce(bytes, 0) as bytes from objects where ${mayReceive(upload)}`),

    /**
     * MUST be called before the bytes are stored: erasure uses the date of the row to detect bytes in flight. Returns
     * false if the upload has become an image, was erased or has expired.
     */
    receive: async (upload: UploadNames, bytes: number): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set created_at = now_ms(), bytes = ${bytes}
        where ${mayReceive(upload)}`)
      return rowCount > 0
    },

    /**
     * Claims the upload, so that only one replica turns it into a photo. Returns false while another claim is active. A
     * claim expires after 1 minute, in case its replica has died.
     */
    claim: async (upload: UploadNames): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update objects set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
        where ${isOpen(upload)} and (claimed_until is null or claimed_until <= now())`)
      return rowCount > 0
    },

    /** Notes that the bytes are deleted, so that they do not count towards the quota of the account. */
    empty: async ({ objectKey }: UploadNames): Promise<void> => {
      await database.query(sql.unsafe`update objects set bytes = null where key = ${objectKey}`)
    },

    /** Stored bytes of those of the uploads that are not complete. */
    sumBytes: (objectKeys: readonly string[]): Promise<number> =>
      database.oneFirst(sql.type(SumRow)`
        select coalesce(sum(bytes), 0)::bigint as bytes from objects
        where key = any(${sql.array([...objectKeys], 'text')}) and kind = 'upload'`),

    release: async ({ objectKey }: UploadNames): Promise<void> => {
      await database.query(sql.unsafe`update objects set claimed_until = null where key = ${objectKey}`)
    },

    /** Removes the owner from a photo that was discarded: nothing may name a shopper who has withdrawn until a sweep deletes the row. */
    disown: async (objectKey: string): Promise<void> => {
      await database.query(sql.unsafe`update objects set external_user_id = null where key = ${objectKey}`)
    },

    /** Owner of the upload; null when the upload does not exist or no longer exists. */
    findOwner: async (upload: UploadNames): Promise<string | null> =>
      database.maybeOneFirst(sql.type(UploadRow)`
        select external_user_id as "externalUserId" from objects where ${isOpen(upload)}`),
  }
}
