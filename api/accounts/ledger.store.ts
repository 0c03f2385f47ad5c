import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'

const EntryRow = Type.Object({
  id: Type.Integer(),
  amount: Type.Integer(),
  kind: Type.Enum(['grant', 'reserve', 'refund']),
  generationId: Nullable(Type.String()),
  note: Nullable(Type.String()),
  createdAt: Timestamp,
})
export type LedgerEntry = Static<typeof EntryRow>

export type Ledger = ReturnType<typeof createLedger>

/** Changes of an account's credits. */
export function createLedger(database: Database) {
  return {
    /** Newest first, before the given entry. */
    list: ({ accountId, before, limit }: { accountId: string; before: number | null; limit: number }) =>
      database.any(sql.type(rowType(EntryRow))`
        select id, amount, kind, generation_id as "generationId", note, created_at as "createdAt"
        from ledger where account_id = ${accountId} and (${before}::bigint is null or id < ${before})
        order by id desc limit ${limit}`),
  }
}
