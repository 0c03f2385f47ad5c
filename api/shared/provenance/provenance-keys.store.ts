import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'

const Fingerprint = rowType(Type.Object({ fingerprint: Type.String() }))

export type ProvenanceKeys = ReturnType<typeof createProvenanceKeys>

/** Store of the keys with which this installation's workers have signed results, by the SHA-256 of the public key. */
export function createProvenanceKeys(database: Database) {
  return {
    /** Records a key before its first use; keeps an existing record. */
    note: async ({ fingerprint, certificate }: { fingerprint: string; certificate: string }): Promise<void> => {
      await database.query(sql.unsafe`
        insert into provenance_keys (fingerprint, certificate) values (${fingerprint}, ${certificate})
        on conflict do nothing`)
    },

    has: async (fingerprint: string): Promise<boolean> =>
      (await database.maybeOne(sql.type(Fingerprint)`
        select fingerprint from provenance_keys where fingerprint = ${fingerprint}`)) !== null,
  }
}
