import { type Database, rowType, sql } from '../shared/database/database.ts'
import { type Static, Type } from '../shared/schema.ts'

const WalArchiveRow = Type.Object({
  /** Seconds since 1970; 0 before the first. */
  archivedAt: Type.Number(),
  failedAt: Type.Number(),
})
export type WalArchive = Static<typeof WalArchiveRow>

/** When Postgres last archived a file of its write-ahead log, and last failed to. Every role may read this. */
export function readWalArchive(database: Database): Promise<WalArchive> {
  return database.one(sql.type(rowType(WalArchiveRow))`
    select coalesce(extract(epoch from last_archived_time), 0)::float8 as "archivedAt",
      coalesce(extract(epoch from last_failed_time), 0)::float8 as "failedAt"
    from pg_stat_archiver`)
}
