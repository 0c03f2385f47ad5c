import type { KeyRecord } from '../accounts/api-keys.store.ts'
import { type Html, html } from '../http/answers/html.ts'
import type { LoggedRequest } from '../http/request-log.store.ts'
import { badge, type Content, code, count, nextPage, type Tone, table, time } from './elements.ts'
import type { Fields } from './fields.ts'
import { searchForm } from './form-elements.ts'
import type { Forms } from './issued-forms.ts'

/** By the first digit of a status. */
export const STATUS_CLASSES: Readonly<Record<string, string>> = {
  2: '2xx: succeeded',
  3: '3xx: not modified or redirected',
  4: '4xx: rejected',
  5: '5xx: failed',
}

const TONES: Readonly<Record<string, Tone>> = { 2: 'good', 3: 'quiet', 4: 'busy', 5: 'bad' }

export interface RequestsPage {
  readonly accountId: string
  readonly query: URLSearchParams
  readonly routes: readonly string[]
  readonly keys: readonly KeyRecord[]
  readonly forms: Forms
  /** Where the next page begins; null on the last one. */
  readonly next: string | null
}

export function presentRequests(found: readonly LoggedRequest[], page: RequestsPage): Html {
  const { accountId, query, routes, keys, forms, next } = page
  const pick = (name: string) => query.get(name) ?? ''
  const any = ['', 'any'] as const
  const body = ({ field, choice }: Fields) => html`${choice({
    name: 'status',
    label: 'Status',
    options: [any, ...Object.entries(STATUS_CLASSES)],
    value: pick('status'),
  })}
${choice({ name: 'route', label: 'Route', options: [any, ...routes.map((route) => [route, route] as const)], value: pick('route') })}
${choice({ name: 'key', label: 'Key', options: [any, ...keyOptions(keys)], value: pick('key') })}
${field({ name: 'code', label: 'Error code', type: 'search', value: pick('code') })}
${field({ name: 'from', label: 'From (UTC)', type: 'datetime-local', value: pick('from') })}
${field({ name: 'to', label: 'To (UTC)', type: 'datetime-local', value: pick('to') })}`
  const isFiltered = [...query.keys()].length > 0
  return html`<p class="actions"><a href="/accounts/${accountId}">Open the account</a></p>
${searchForm({ action: `/accounts/${accountId}/requests`, forms, body, submit: 'Filter' })}
${table({
  caption: 'Requests, newest first',
  head: ['Time (UTC)', 'Request', 'Status', 'Key', 'Duration', 'Request ID'],
  rows: found.map((request): Content[] => [
    time(request.createdAt),
    html`${request.method} ${code(request.route)}`,
    html`${badge(String(request.status), TONES[String(request.status)[0]] ?? 'quiet')}${request.errorCode === null ? '' : html` ${code(request.errorCode)}`}`,
    request.keyLastFour === null ? html`<span class="none">none</span>` : code(`…${request.keyLastFour}`),
    `${count(request.durationMs)} ms`,
    code(request.requestId),
  ]),
  empty: isFiltered
    ? 'No request matches. Remove a filter, or choose a longer time.'
    : 'No requests in the last 7 days. The first one appears here a second after it was sent with a key of the account.',
  numeric: [4],
})}${nextPage(query, next)}
<p class="hint">The latest 10,000 requests that were answered and 10,000 that were refused, for 7 days. Bodies, queries and addresses are not stored.</p>`
}

function keyOptions(keys: readonly KeyRecord[]): (readonly [string, string])[] {
  return keys.map(({ lastFour, name, kind, isTest }) => [
    lastFour,
    `${name ?? `${isTest ? 'test ' : ''}${kind} key`} …${lastFour}`,
  ])
}
