import type { ErasureRecord, ListedErasure } from '../../erasure/erasures.store.ts'
import type { FoundPerson, HeldData } from '../../erasure/people.store.ts'
import { type Html, html } from '../../http/answers/html.ts'
import type { Customer } from '../../shared/retention/customer.ts'
import { type Fields, reasonField } from '../forms/fields.ts'
import { actForm, permittedLink, searchForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { badge, code, count, facts, section, table, when } from '../html/elements.ts'
import { ACCOUNT_COLUMN, accountLink, copiedId, generationLink, shortId } from '../html/ids.ts'
import type { Column, OpenList } from '../html/list.view.ts'
import { time } from '../html/times.ts'

function presentSearch(q: string, forms: Forms): Html {
  const label = 'ID or e-mail address'
  return searchForm({
    action: '/people',
    forms,
    body: ({ field }) => field({ name: 'q', label, type: 'search', value: q }),
  })
}

export function presentPeople(
  found: readonly FoundPerson[],
  { q, isFull, forms }: { readonly q: string; readonly isFull: boolean; readonly forms: Forms },
): Html {
  return html`${presentSearch(q, forms)}
${table({
  caption: 'People',
  head: ['ID', 'Account'],
  rows: found.map(({ accountId: account, accountName: name, externalUserId: person }) => [
    personLink(account, person),
    accountLink({ id: account, name }),
  ]),
  empty:
    q === ''
      ? html`Search by externalUserId, customer ID of a shop’s platform or anonymous ID, by the ID of a photo or generation, or by the e-mail address that a shopper left. See <a href="/erasures">erasures and their receipts</a>.`
      : html`Nobody has data under “${q}”. What was erased is found nowhere; see <a href="/erasures">erasures and their receipts</a>.`,
})}${when(isFull, html`<p class="hint">The first matches. Search for a whole ID.</p>`)}`
}

function personLink(account: string, person: string): Html {
  return html`<a href="?${new URLSearchParams({ account, person }).toString()}">${code(person)}</a>`
}

interface PersonPage {
  readonly accountName: string | undefined
  readonly held: HeldData
  readonly query: URLSearchParams
  readonly forms: Forms
}

export function presentPerson(
  { accountId, externalUserId }: Customer,
  { accountName, held, query, forms }: PersonPage,
): Html {
  const { photos, generations, leads, consents, events, aliases, requests } = held
  const body = (fields: Fields) =>
    html`${fields.hidden('account', accountId)}${fields.hidden('person', externalUserId)}${fields.hidden('view', query.toString())}${reasonField(fields)}`
  const act = (name: string, submit: string, danger = false) =>
    actForm({ action: `/people/${name}`, forms, submit, danger, body })
  return html`${presentSearch(query.get('q') ?? '', forms)}
${facts([
  ['ID', copiedId(externalUserId)],
  ['Account', accountLink({ id: accountId, name: accountName })],
  ['Photos', count(photos.length)],
  ['Generations', count(generations.length)],
  ['E-mail addresses', count(leads.length)],
  ['Consents', count(consents.length)],
  ['Events', count(events.reduce((sum, { count: times }) => sum + times, 0))],
  ['Data requests', count(requests.length)],
  ...(aliases.length > 0
    ? [['Also known as', html`${aliases.map((id) => html`${personLink(accountId, id)} `)}`] as const]
    : []),
])}
<div class="columns">${section('Export', act('export', 'Download as JSON'))}${section('Erase', html`${act('erase', 'Erase this person', true)}<p class="hint">Erases what is stored under this ID everywhere: photos, results, e-mail addresses, consents and events${when(aliases.length > 0, html`. Erase the other IDs first: this erasure removes what leads to them`)}. The receipt follows within 10 minutes.</p>`)}</div>
${section(
  'Photos and generations',
  table({
    caption: 'Photos and generations, newest first',
    head: ['ID', 'State', 'Created (UTC)', 'Image until (UTC)'],
    rows: [
      ...generations.map(({ id, status, createdAt }) => [
        generationLink(id),
        status.toLowerCase(),
        time(createdAt),
        '',
      ]),
      ...photos.map(({ id, createdAt, expiresAt }) => [shortId(id), 'photo', time(createdAt), time(expiresAt)]),
    ].slice(0, MAX_SHOWN),
    empty: 'None.',
  }),
)}
${section(
  'Consents and e-mail addresses',
  table({
    caption: 'Consents and e-mail addresses',
    head: ['Shop', 'What', 'Since (UTC)', 'Withdrawn (UTC)'],
    rows: [
      ...consents.map(({ domain, version, givenAt, withdrawnAt }) => [
        domain,
        `consent ${version}`,
        time(givenAt),
        withdrawnAt === null ? '' : time(withdrawnAt),
      ]),
      // Addresses are in the export, for a reason.
      ...leads.map(({ domain, createdAt }) => [domain, 'e-mail address', time(createdAt), '']),
    ],
    empty: 'None.',
  }),
)}`
}

const MAX_SHOWN = 50

export const ERASURE_COLUMNS: readonly Column<ListedErasure>[] = [
  { head: 'Erasure', of: ['id'], cell: ({ id }) => html`<a href="/erasures/${id}">${shortId(id)}</a>` },
  { head: 'Receipt', of: ['waitsFor'], cell: stateOf },
  ACCOUNT_COLUMN,
  { head: 'Requested (UTC)', of: ['createdAt'] },
  { head: 'Erased (UTC)', of: ['erasedAt'] },
  { head: 'Issued (UTC)', of: ['issuedAt'] },
]

export function presentErasureList(
  forms: Forms,
): Pick<OpenList<ListedErasure>, 'title' | 'caption' | 'before' | 'empty'> {
  return {
    title: 'Erasures',
    caption: 'Erasures, newest first',
    before: html`<p>Erasures name nobody: a receipt proves that the data of the person with its hash was erased. ${permittedLink({ forms, path: '/people' }, 'Find a person')}</p>`,
    empty: 'Nobody has been erased yet.',
  }
}

function stateOf({ issuedAt, waitsFor }: Pick<ErasureRecord, 'issuedAt' | 'waitsFor'>): Html {
  return issuedAt === null ? badge(`waits for ${waitsFor}`, 'busy') : badge('issued', 'good')
}

export function presentErasurePage({ accountId, accountName }: ListedErasure, erasure: ErasureRecord): Html {
  const { id, requestedAt, erasedAt, issuedAt, receipt } = erasure
  return html`${facts([
    ['ID', copiedId(id)],
    ['Receipt', stateOf(erasure)],
    ['Account', accountLink({ id: accountId, name: accountName })],
    ['Requested', time(requestedAt)],
    ['Erased', time(erasedAt)],
    ['Issued', time(issuedAt)],
  ])}
<p><a class="button quiet" href="/erasures/${id}/receipt">Download as JSON</a></p>
${when(receipt, section('Receipt', html`<pre tabindex="0">${JSON.stringify(receipt, null, 2)}</pre>`))}`
}
