import Router from '@koa/router'
import { html } from '../answers/html.ts'
import { Type } from '../shared/schema.ts'
import type { AuditEntry, OperatorAudit } from '../stores/operator-audit.ts'
import { PAGE } from './accounts.ts'
import { code, nextPage, table, time } from './elements.ts'
import { fieldsReader, queryOf } from './form.ts'
import { searchForm } from './form-elements.ts'
import { showPage } from './layout.ts'
import type { DashboardContext, DashboardState } from './state.ts'

/** GET /audit: the audit log. */
export function auditPages({ audit }: { audit: OperatorAudit }): Router<DashboardState> {
  const router = new Router<DashboardState>({ sensitive: true, strict: true })
  router.get('/audit', (ctx: DashboardContext) => showAudit(ctx, audit))
  return router
}

const readSearch = fieldsReader(
  Type.Object({
    about: Type.Optional(Type.String({ maxLength: 320 })),
    before: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
)

async function showAudit(ctx: DashboardContext, audit: OperatorAudit): Promise<void> {
  const query = queryOf(ctx)
  const { about = null, before = null } = readSearch(query)
  const { kept, forms } = ctx.state
  const entries = kept === null ? await audit.list({ about, before, limit: PAGE }) : []
  const label = 'Id, action or operator'
  showPage(ctx, {
    title: 'Audit log',
    body: html`${searchForm({
      action: '/audit',
      forms,
      body: ({ field }) => field({ name: 'about', label, type: 'search', value: about }),
    })}
${table({
  caption: 'Actions of operators, newest first',
  head: ['Time (UTC)', 'Operator', 'Action', 'Object', 'Reason', 'Details', 'From'],
  rows: entries.map((entry) => [
    time(entry.createdAt),
    entry.operatorEmail ?? entry.actor ?? 'not signed in',
    code(entry.action),
    entry.object === null
      ? ''
      : html`<a href="/audit?about=${encodeURIComponent(entry.object)}">${code(entry.object)}</a>`,
    entry.reason ?? '',
    presentDetails(entry),
    entry.address ?? '',
  ]),
  empty:
    about === null
      ? 'Nothing has been done yet.'
      : html`No action matches “${about}”. <a href="/audit">Show all actions</a>`,
})}${nextPage(query, entries.length === PAGE ? (entries.at(-1)?.id ?? null) : null)}`,
  })
}

function presentDetails({ details }: AuditEntry): string {
  return Object.entries(details as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${value === null ? 'none' : String(value)}`)
    .join(', ')
}
