import type { Accounts } from '../accounts/accounts.store.ts'
import { type Html, html } from '../http/answers/html.ts'
import { Type } from '../shared/contract/schema.ts'
import { PAGE } from './accounts.ts'
import { allOf, csvLink, sendCsv } from './csv-file.ts'
import { code, nextPage, table, time, when } from './elements.ts'
import { fieldsReader, queryOf } from './form.ts'
import { searchForm } from './form-elements.ts'
import { shortId } from './ids.ts'
import { showPage } from './layout.ts'
import type { AuditEntry, AuditSearch, OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import type { DashboardContext } from './state.ts'
import { Minute, readTime, timeFields } from './times.ts'

export interface AuditPagesOptions {
  readonly audit: OperatorAudit
  readonly accounts: Pick<Accounts, 'findNames'>
}

/** The audit log, as a page and as a file. */
export const auditPages = pages<AuditPagesOptions>([
  { route: 'GET /audit.csv', role: 'viewer', run: exportAudit },
  { route: 'GET /audit', role: 'viewer', menu: 'Audit log', isSearch: true, run: showAudit },
])

const readSearch = fieldsReader(
  Type.Object({
    about: Type.Optional(Type.String({ maxLength: 320 })),
    from: Minute,
    to: Minute,
    before: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
)

async function showAudit(ctx: DashboardContext, { audit, accounts }: AuditPagesOptions): Promise<void> {
  const query = queryOf(ctx)
  const search = readAuditSearch(query)
  const { about } = search
  const { kept, forms } = ctx.state
  const entries = kept === null ? await audit.list({ ...search, limit: PAGE }) : []
  const names = await accounts.findNames(
    entries.flatMap(({ object, accountId }) => [object ?? [], accountId ?? []].flat()),
  )
  const label = 'Id, action or operator'
  showPage(ctx, {
    title: 'Audit log',
    body: html`${searchForm({
      action: '/audit',
      forms,
      body: ({ field }) => html`${field({ name: 'about', label, type: 'search', value: about })}
${timeFields({ field }, query)}`,
    })}
${csvLink('/audit.csv', query)}
${table({
  caption: 'Actions of operators, newest first',
  head: ['Time (UTC)', 'Operator', 'Action', 'Object', 'Reason', 'Details', 'From'],
  rows: entries.map((entry) => [
    time(entry.createdAt),
    entry.operatorEmail ?? entry.actor ?? 'not signed in',
    code(entry.action),
    presentObject(entry, names),
    entry.reason ?? '',
    presentDetails(entry),
    entry.address ?? '',
  ]),
  empty:
    about === null && !search.from && !search.to
      ? 'Nothing has been done yet. The log fills with the first sign-in, change or view of a photo by an operator.'
      : html`No action matches. <a href="/audit">Show all actions</a>`,
})}${nextPage(query, entries.length === PAGE ? (entries.at(-1)?.id ?? null) : null)}`,
  })
}

function readAuditSearch(query: URLSearchParams): Omit<AuditSearch, 'limit'> {
  const { about = null, before = null, ...times } = readSearch(query)
  return { about, before, from: readTime('from', times.from), to: readTime('to', times.to) }
}

function exportAudit(ctx: DashboardContext, { audit }: AuditPagesOptions): void {
  sendCsv(ctx, 'audit', auditRows(audit, readAuditSearch(queryOf(ctx))))
}

async function* auditRows(audit: OperatorAudit, search: Omit<AuditSearch, 'limit'>): AsyncGenerator<string[]> {
  yield ['time', 'operator', 'action', 'object', 'account', 'reason', 'details', 'from']
  const all = allOf<AuditEntry>((last, limit) => audit.list({ ...search, before: last?.id ?? null, limit }))
  for await (const entry of all)
    yield [
      ...[entry.createdAt.toISOString(), entry.operatorEmail ?? entry.actor ?? '', entry.action, entry.object ?? ''],
      ...[entry.accountId ?? '', entry.reason ?? '', JSON.stringify(entry.details), entry.address ?? ''],
    ]
}

/** The object, and the name of the account if it is one or belongs to one. */
function presentObject({ object, accountId }: AuditEntry, names: ReadonlyMap<string, string>): Html {
  const name = names.get(object ?? '') ?? names.get(accountId ?? '')
  const link = when(
    object,
    html`<a href="/audit?about=${encodeURIComponent(object ?? '')}">${shortId(object ?? '')}</a>`,
  )
  return html`${link}${when(name, html`<br><span class="beneath">${name ?? ''}</span>`)}`
}

function presentDetails({ details }: AuditEntry): string {
  return Object.entries(details as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${value === null ? 'none' : String(value)}`)
    .join(', ')
}
