import type { Accounts } from '../../accounts/accounts.store.ts'
import { LEDGER_KINDS, type Ledger, type LedgerEntry } from '../../accounts/ledger.store.ts'
import { html } from '../../http/answers/html.ts'
import { count } from '../html/elements.ts'
import { listPages } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import { ofAccount, pages } from '../page.ts'
import type { DashboardContext } from '../state.ts'
import { findAccount } from './accounts.ts'
import { LEDGER_COLUMNS, LEDGER_WORDS } from './ledger.view.ts'

export interface LedgerPagesOptions {
  readonly accounts: Pick<Accounts, 'findEdition'>
  readonly ledger: Ledger
}

/** The ledger of an account, as a page and as a file. */
export const ledgerPages = pages<LedgerPagesOptions>(
  listPages<LedgerPagesOptions, LedgerEntry>({
    path: '/accounts/:id/ledger',
    owns: ofAccount,
    columns: LEDGER_COLUMNS,
    filters: [{ of: 'kind', label: 'Kind', options: LEDGER_KINDS.map((kind) => [kind, kind] as const) }],
    open: openLedger,
  }),
)

async function openLedger(ctx: DashboardContext, options: LedgerPagesOptions): Promise<OpenList<LedgerEntry>> {
  const { id, name, balance } = await findAccount(ctx, options)
  return {
    ...LEDGER_WORDS,
    title: `Ledger of ${name}`,
    listing: options.ledger.listingOf(id),
    before: html`<p><a href="/accounts/${id}">${name}</a> has ${count(balance)} credits.</p>`,
  }
}
