import type { Accounts } from '../accounts/accounts.store.ts'
import type { Ledger, LedgerEntry } from '../accounts/ledger.store.ts'
import { Type } from '../shared/contract/schema.ts'
import { findAccount, PAGE } from './accounts.ts'
import { allOf, sendCsv } from './csv-file.ts'
import { fieldsReader, queryOf } from './form.ts'
import { showPage } from './layout.ts'
import { presentLedger } from './ledger.view.ts'
import { pages } from './pages.ts'
import type { DashboardContext } from './state.ts'

export interface LedgerPagesOptions {
  readonly accounts: Pick<Accounts, 'findEdition'>
  readonly ledger: Ledger
}

/** The ledger of an account, as a page and as a file. */
export const ledgerPages = pages<LedgerPagesOptions>([
  { route: 'GET /accounts/:id/ledger', role: 'viewer', run: showLedger },
  { route: 'GET /accounts/:id/ledger.csv', role: 'viewer', run: exportLedger },
])

const readPage = fieldsReader(Type.Object({ before: Type.Optional(Type.Integer({ minimum: 1 })) }))

async function showLedger(ctx: DashboardContext, options: LedgerPagesOptions): Promise<void> {
  const account = await findAccount(ctx, options)
  const query = queryOf(ctx)
  const { before = null } = readPage(query)
  const entries = await options.ledger.list({ accountId: account.id, before, limit: PAGE })
  showPage(ctx, {
    title: `Ledger of ${account.name}`,
    body: presentLedger(account, { entries, query, isFull: entries.length === PAGE }),
  })
}

async function exportLedger(ctx: DashboardContext, options: LedgerPagesOptions): Promise<void> {
  const { id } = await findAccount(ctx, options)
  sendCsv(ctx, `ledger-${id}`, ledgerRows(id, options.ledger))
}

async function* ledgerRows(accountId: string, ledger: Ledger): AsyncGenerator<string[]> {
  yield ['time', 'kind', 'amount', 'balance', 'generation', 'note']
  const all = allOf<LedgerEntry>((last, limit) => ledger.list({ accountId, before: last?.id ?? null, limit }))
  for await (const { createdAt, kind, amount, balance, generationId, note } of all)
    yield [createdAt.toISOString(), kind, String(amount), String(balance), generationId ?? '', note ?? '']
}
