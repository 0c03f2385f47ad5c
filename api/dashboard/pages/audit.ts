import { type Html, html } from '../../http/answers/html.ts'
import { code, when } from '../html/elements.ts'
import { shortId } from '../html/ids.ts'
import { type List, listPages } from '../html/list.ts'
import type { AuditEntry, OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'

export interface AuditPagesOptions {
  readonly audit: OperatorAudit
}

const LIST: List<AuditPagesOptions, AuditEntry> = {
  path: '/audit',
  menu: 'Audit log',
  columns: [
    { head: 'Time (UTC)', of: ['createdAt'] },
    { head: 'Operator', of: ['who'], cell: ({ who }) => who ?? 'not signed in' },
    { head: 'Action', of: ['action'], cell: ({ action }) => code(action) },
    { head: 'Object', of: ['object', 'accountId', 'accountName'], cell: presentObject },
    { head: 'Reason', of: ['reason'] },
    { head: 'Details', of: ['details'], cell: presentDetails },
    { head: 'From', of: ['address'] },
  ],
  open: (_, { audit }) => ({
    title: 'Audit log',
    caption: 'Actions of operators, newest first',
    listing: audit.listing,
    empty: 'Nothing has been done yet. The log fills with the first sign-in, change or view of a photo by an operator.',
  }),
}

/** The audit log, as a page and as a file. */
export const auditPages = pages<AuditPagesOptions>(listPages(LIST))

/** The object, and the name of the account if it is one or belongs to one. */
function presentObject({ object, accountName }: AuditEntry): Html {
  const link = when(object, html`<a href="/audit?q=${encodeURIComponent(object ?? '')}">${shortId(object ?? '')}</a>`)
  return html`${link}${when(accountName, html`<br><span class="beneath">${accountName ?? ''}</span>`)}`
}

function presentDetails({ details }: AuditEntry): string {
  return Object.entries(details as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${value === null ? 'none' : String(value)}`)
    .join(', ')
}
