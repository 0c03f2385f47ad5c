import type { AccountRecord } from '../accounts/accounts.store.ts'
import type { LedgerEntry } from '../accounts/ledger.store.ts'
import { type Html, html } from '../http/answers/html.ts'
import { count, nextPage, table, time } from './elements.ts'
import { shortId } from './ids.ts'

export function presentLedger(
  account: AccountRecord,
  {
    entries,
    query,
    isFull,
  }: { readonly entries: readonly LedgerEntry[]; readonly query: URLSearchParams; readonly isFull: boolean },
): Html {
  return html`<p><a href="/accounts/${account.id}">${account.name}</a> has ${count(account.balance)} credits. <a href="/accounts/${account.id}/ledger.csv">Download as CSV</a></p>
${entriesTable(entries)}${nextPage(query, isFull ? (entries.at(-1)?.id ?? null) : null)}`
}

export function entriesTable(entries: readonly LedgerEntry[]): Html {
  return table({
    caption: 'Ledger, newest first',
    head: ['Time (UTC)', 'Kind', 'Amount', 'Balance', 'For'],
    rows: entries.map(({ createdAt, kind, amount, balance, generationId, note }) => [
      time(createdAt),
      kind === 'grant' && amount < 0 ? 'correction' : kind,
      amount > 0 ? `+${count(amount)}` : count(amount),
      count(balance),
      generationId === null ? (note ?? '') : html`<a href="/generations/${generationId}">${shortId(generationId)}</a>`,
    ]),
    empty: 'No credits were added or spent yet.',
    numeric: [2, 3],
  })
}
