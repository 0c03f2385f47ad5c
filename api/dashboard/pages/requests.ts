import type { Accounts } from '../../accounts/accounts.store.ts'
import type { ApiKeys, KeyRecord } from '../../accounts/api-keys.store.ts'
import { html } from '../../http/answers/html.ts'
import type { ListedRequest, RequestLog } from '../../http/request-log.store.ts'
import { badge, code, count, type Tone, when } from '../html/elements.ts'
import { listPages } from '../html/list.ts'
import type { Column, OpenList } from '../html/list.view.ts'
import { ofAccount, pages } from '../page.ts'
import type { DashboardContext } from '../state.ts'
import { findAccount } from './accounts.ts'

export interface RequestPagesOptions {
  readonly accounts: Pick<Accounts, 'findEdition'>
  readonly requestLog: RequestLog
  readonly keys: Pick<ApiKeys, 'list'>
}

const TONES: Readonly<Record<number, Tone>> = { 2: 'good', 3: 'quiet', 4: 'busy', 5: 'bad' }

const COLUMNS: readonly Column<ListedRequest>[] = [
  { head: 'Time (UTC)', of: ['createdAt'] },
  { head: 'Request', of: ['route', 'method'], cell: ({ method, route }) => html`${method} ${code(route)}` },
  {
    head: 'Status',
    of: ['status', 'errorCode'],
    cell: ({ status, statusClass, errorCode }) =>
      html`${badge(String(status), TONES[statusClass] ?? 'quiet')}${when(errorCode, html` ${code(errorCode ?? '')}`)}`,
  },
  {
    head: 'Key',
    of: ['keyLastFour'],
    cell: ({ keyLastFour }) => (keyLastFour === null ? html`<span class="none">none</span>` : code(`…${keyLastFour}`)),
  },
  { head: 'Duration', of: ['durationMs'], cell: ({ durationMs }) => `${count(durationMs)} ms` },
  { head: 'Request ID', of: ['requestId'], cell: ({ requestId }) => code(requestId) },
]

const STATUS_CLASSES = [
  ['2', '2xx: succeeded'],
  ['3', '3xx: not modified or redirected'],
  ['4', '4xx: rejected'],
  ['5', '5xx: failed'],
] as const

/** The latest requests of an account, those of its test keys too. */
export const requestPages = pages<RequestPagesOptions>(
  listPages<RequestPagesOptions, ListedRequest>({
    path: '/accounts/:id/requests',
    owns: ofAccount,
    columns: COLUMNS,
    filters: [
      { of: 'statusClass', label: 'Status', options: STATUS_CLASSES },
      { of: 'route', label: 'Route' },
      { of: 'keyLastFour', label: 'Key' },
      { of: 'errorCode', label: 'Error code' },
    ],
    open: openRequests,
  }),
)

async function openRequests(ctx: DashboardContext, options: RequestPagesOptions): Promise<OpenList<ListedRequest>> {
  const { id, name } = await findAccount(ctx, options)
  const [routes, keys] = await Promise.all([options.requestLog.listRoutes(id), options.keys.list(id)])
  return {
    title: `Requests of ${name}`,
    caption: 'Requests, newest first',
    listing: options.requestLog.listingOf(id),
    choices: { route: routes.map((route) => [route, route] as const), keyLastFour: keys.map(keyOption) },
    before: html`<p class="actions"><a href="/accounts/${id}">Open the account</a></p>`,
    after: html`<p class="hint">The latest 10,000 requests that were answered and 10,000 that were refused, for 7 days. Bodies, queries and addresses are not stored.</p>`,
    empty:
      'No requests in the last 7 days. The first one appears here a second after it was sent with a key of the account.',
  }
}

function keyOption({ lastFour, name, kind, isTest }: KeyRecord): readonly [string, string] {
  return [lastFour, `${name ?? `${isTest ? 'test ' : ''}${kind} key`} …${lastFour}`]
}
