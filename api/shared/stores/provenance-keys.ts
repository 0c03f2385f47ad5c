import { type Database, rowType, sql } from '../database/database.ts'
import { Type } from '../schema.ts'

const Fingerprint = rowType(Type.Object({ fingerprint: Type.String() }))

export type ProvenanceKeys = ReturnType<typeof createProvenanceKeys>

/** The keys that workers of this installation have signed results with, by the SHA-256 of their public key. */
export function createProvenanceKeys(database: Database) {
  return {
    /** Notes a key before its first use; one that is there already stays. */
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
