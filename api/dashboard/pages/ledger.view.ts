import type { LedgerEntry } from '../../accounts/ledger.store.ts'
import { type Content, count } from '../html/elements.ts'
import { generationLink } from '../html/ids.ts'
import type { Column } from '../html/list.view.ts'

export const LEDGER_COLUMNS: readonly Column<LedgerEntry>[] = [
  { head: 'Time (UTC)', of: ['createdAt'] },
  { head: 'Kind', of: ['kind'] },
  { head: 'Amount', of: ['amount'], cell: ({ amount }) => (amount > 0 ? `+${count(amount)}` : count(amount)) },
  { head: 'Balance', of: ['balance'], isUnsorted: true },
  { head: 'For', of: ['generationId', 'note'], cell: purposeOf },
]

/** Of a list of ledger entries. */
export const LEDGER_WORDS = { caption: 'Ledger, newest first', empty: 'No credits were added or spent yet.' } as const

function purposeOf({ generationId, note }: LedgerEntry): Content {
  return generationId === null ? (note ?? '') : generationLink(generationId)
}
