import { type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'

const KeyRow = Type.Object({ keyId: Type.String(), publicKey: Type.String() })
export type KnownReceiptKey = Static<typeof KeyRow>

export type ReceiptKeys = ReturnType<typeof createReceiptKeys>

/** The public keys with which this installation has signed receipts, so that old ones remain valid after a rotation. */
export function createReceiptKeys(database: Database) {
  return {
    /** Records a key before its first use; an existing key stays unchanged. */
    note: async ({ keyId, publicKey }: KnownReceiptKey): Promise<void> => {
      await database.query(sql.unsafe`
        insert into receipt_keys (key_id, public_key) values (${keyId}, ${publicKey}) on conflict do nothing`)
    },

    /** Newest first. */
    list: (): Promise<readonly KnownReceiptKey[]> =>
      database.any(sql.type(rowType(KeyRow))`
        select key_id as "keyId", public_key as "publicKey" from receipt_keys order by first_used_at desc, key_id`),
  }
}
