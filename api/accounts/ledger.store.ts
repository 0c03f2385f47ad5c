import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'

const EntryRow = Type.Object({
  id: Type.Integer(),
  amount: Type.Integer(),
  kind: Type.Enum(['grant', 'reserve', 'refund']),
  generationId: Nullable(Type.String()),
  note: Nullable(Type.String()),
  createdAt: Timestamp,
  /** Credits after the entry. */
  balance: Type.Integer(),
})
export type LedgerEntry = Static<typeof EntryRow>

export type Ledger = ReturnType<typeof createLedger>

/** Changes of an account's credits. */
export function createLedger(database: Database) {
  return {
    /** Newest first, before the given entry. */
    list: ({ accountId, before, limit }: { accountId: string; before: number | null; limit: number }) =>
      database.any(sql.type(rowType(EntryRow))`
        with page as (
          select id, amount, kind, generation_id, note, created_at
          from ledger where account_id = ${accountId} and (${before}::bigint is null or id < ${before})
          order by id desc limit ${limit}),
        newer as (
          select coalesce(sum(amount), 0) as amount
          from ledger where account_id = ${accountId} and id > (select max(id) from page))
        select page.id, page.amount, kind, generation_id as "generationId", note, page.created_at as "createdAt",
          (accounts.balance - newer.amount - coalesce(sum(page.amount) over (
            order by page.id desc rows between unbounded preceding and 1 preceding), 0))::int as balance
        from page, newer, accounts where accounts.id = ${accountId}
        order by page.id desc`),
  }
}
