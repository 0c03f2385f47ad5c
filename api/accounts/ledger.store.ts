import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing, type Listing } from '../shared/database/listing.ts'

/** `correction`: an operator has removed credits. */
export const LEDGER_KINDS = ['grant', 'correction', 'reserve', 'refund']

const EntryRow = Type.Object({
  id: Type.Integer(),
  amount: Type.Integer(),
  kind: Type.Enum(LEDGER_KINDS),
  generationId: Nullable(Type.String()),
  note: Nullable(Type.String()),
  createdAt: Timestamp,
  /** Credits after the entry. */
  balance: Type.Integer(),
})
export type LedgerEntry = Static<typeof EntryRow>

const Balance = rowType(Type.Object({ id: Type.Integer(), balance: Type.Integer() }))

export type Ledger = ReturnType<typeof createLedger>

/** Changes of an account's credits. */
export function createLedger(database: Database) {
  return {
    /** The changes of an account, with the balance after each. */
    listingOf: (accountId: string): Listing<LedgerEntry> => {
      const { balance: _, ...columns } = EntryRow.properties
      const changes = createListing(database, {
        row: Type.Object(columns),
        rows: sql.fragment`
          select id, amount, case when kind = 'grant' and amount < 0 then 'correction' else kind end as kind,
            generation_id as "generationId", note, created_at as "createdAt"
          from ledger where account_id = ${accountId}`,
        texts: ['generationId', 'note'],
      })
      return {
        count: changes.count,
        list: async (search, part) => {
          const listed = await changes.list(search, part)
          const balances = await findBalances(
            database,
            accountId,
            listed.map(({ id }) => id),
          )
          return listed.map((entry) => ({ ...entry, balance: balances.get(entry.id) ?? 0 }))
        },
      }
    },
  }
}

/** Balances of the account after these entries, by entry. Reads only the entries from the oldest of these. */
async function findBalances(
  database: Database,
  accountId: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await database.any(sql.type(Balance)`
    select id, balance from (
      select ledger.id, (balance - coalesce(sum(amount) over (
        order by ledger.id desc rows between unbounded preceding and 1 preceding), 0))::int as balance
      from ledger join accounts on accounts.id = account_id
      where account_id = ${accountId} and ledger.id >= ${Math.min(...ids)}
    ) as later where id = any(${sql.array([...ids], 'int8')})`)
  return new Map(rows.map(({ id, balance }) => [id, balance]))
}
