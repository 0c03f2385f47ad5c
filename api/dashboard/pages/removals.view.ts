import { type Html, html } from '../../http/answers/html.ts'
import type { Candidate } from '../../trust/removals/removal-candidates.store.ts'
import type { Removal, RemovalState } from '../../trust/removals/removals.store.ts'
import type { Fields } from '../forms/fields.ts'
import { actForm, permittedLink } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { badge, type Content, code, facts, section, type Tone, table, when } from '../html/elements.ts'
import { accountLink, copiedId, shortId } from '../html/ids.ts'
import type { Column } from '../html/list.view.ts'
import { time } from '../html/times.ts'

const TONES: Readonly<Record<RemovalState, Tone>> = { OPEN: 'busy', ERASING: 'busy', ERASED: 'good', DECLINED: 'quiet' }

export const REMOVAL_COLUMNS: readonly Column<Removal>[] = [
  {
    head: 'Request',
    of: ['id'],
    cell: ({ id }, forms) => permittedLink({ forms, path: `/removals/${id}` }, shortId(id), shortId(id)),
  },
  { head: 'State', of: ['state'], cell: stateOf },
  { head: 'Due (UTC)', of: ['dueAt'], cell: ({ decidedAt, dueAt }) => (decidedAt === null ? time(dueAt) : 'decided') },
  { head: 'Received (UTC)', of: ['createdAt', 'decidedAt'] },
]

export const REMOVAL_WORDS = {
  title: 'Removal requests',
  caption: 'Removal requests, earliest due date first',
  before: html`<p>People who are not customers ask for the removal of images that show them, on the page ${code('/removal')} of the API. Decide within 48 hours.</p>`,
  empty: html`No removal requests yet. Link to ${code('/removal')} of the API from your website, so that people find the form.`,
} as const

function stateOf({ state, isOverdue }: Removal): Html {
  return html`${badge(state.toLowerCase(), TONES[state])}${when(isOverdue, html` ${badge('overdue', 'bad')}`)}`
}

export function presentRemoval(
  removal: Removal,
  {
    found,
    isCut,
    erasures,
    names,
    forms,
  }: {
    found: readonly Candidate[]
    isCut: boolean
    erasures: readonly { readonly accountId: string; readonly erasureId: string | null }[]
    /** Names of the accounts, by ID. */
    names: ReadonlyMap<string, string>
    forms: Forms
  },
): Html {
  const { id, email, reason, state, answer, createdAt, dueAt, decidedAt } = removal
  const isOpen = state === 'OPEN'
  return html`${facts([
    ['ID', copiedId(id)],
    ['State', stateOf(removal)],
    ['Due', time(dueAt)],
    ['Received', time(createdAt)],
    ['Decided', time(decidedAt)],
    ['E-mail', html`<a href="mailto:${addressOf(email)}">${email}</a>`],
    ['Reason of the requester', reason],
    ...(answer === null ? [] : ([['Answer', answer]] as const)),
  ])}
${when(erasures.length > 0, section('Erasures', presentErasures(erasures, names)))}
${when(
  isOpen,
  html`${section('Images that may match', html`${presentFound(found, names)}${when(isCut, html`<p class="hint">More images are similar. After the erasure of the chosen images, the request opens again and shows the next images. Decline the request if none of them is a copy.</p>`)}`)}${when(found.length > 0, actions(id, found, forms))}
${section('Decline', declineForm(id, forms))}`,
)}`
}

/** Local parts may have `?` and `&`, with which a link would add recipients and text. */
function addressOf(email: string): string {
  return encodeURIComponent(email).replaceAll('%40', '@')
}

function presentErasures(
  erasures: readonly { readonly accountId: string; readonly erasureId: string | null }[],
  names: ReadonlyMap<string, string>,
): Html {
  return table({
    caption: 'Erasures by account',
    head: ['Account', 'Erasure, which has a signed receipt'],
    rows: erasures.map(({ accountId, erasureId }): Content[] => [
      accountLink({ id: accountId, name: names.get(accountId) }),
      erasureId === null ? 'waits' : code(erasureId),
    ]),
    empty: '',
  })
}

function presentFound(found: readonly Candidate[], names: ReadonlyMap<string, string>): Html {
  return table({
    caption: 'Stored images by similarity to the image of the requester, most similar first',
    head: ['Photo or try-on', 'Account', 'Most similar image', 'Different bits of 256', 'Stored (UTC)'],
    rows: found.map((candidate): Content[] => [
      code(candidate.id),
      accountLink({ id: candidate.accountId, name: names.get(candidate.accountId) }),
      candidate.kind === 'person' ? 'photo' : 'result',
      String(candidate.distance),
      time(candidate.createdAt),
    ]),
    empty: 'No stored image is similar. Decline the request with this reason.',
    numeric: [3],
  })
}

function actions(id: string, found: readonly Candidate[], forms: Forms): Html {
  const why = ({ field }: Fields) =>
    field({ name: 'reason', label: 'Reason', required: true, minLength: 3, hint: 'Recorded in the audit log.' })
  const show = actForm({ action: `/removals/${id}/images`, forms, submit: 'Show the images', body: why })
  const options = found.map((candidate) => [candidate.id, `${candidate.id}, ${candidate.distance} bits`] as const)
  const erase = actForm({
    action: `/removals/${id}/erase`,
    forms,
    submit: 'Erase the chosen images',
    danger: true,
    body: (fields) =>
      html`${fields.ticks({ name: 'image', legend: 'Erase, with everything made of it', options, checked: () => false })}${why(fields)}`,
  })
  return html`<div class="columns">${section('Previews', show)}${section('Erase', erase)}</div>`
}

function declineForm(id: string, forms: Forms): Html {
  return actForm({
    action: `/removals/${id}/decline`,
    forms,
    submit: 'Decline the request',
    body: ({ field }) =>
      field({ name: 'answer', label: 'Answer', required: true, minLength: 3, hint: 'The requester reads it.' }),
  })
}

export function presentCandidates({
  id,
  previews,
}: {
  id: string
  previews: readonly { readonly id: string; readonly source: string | null }[]
}): Html {
  return html`<p><a href="/removals/${id}">Back to the request</a></p>
${previews.map(({ id: name, source }) =>
  source === null
    ? html`<p>${code(name)}: deleted</p>`
    : html`<figure><img src="${source}" alt="Stored image ${name}"><figcaption>${code(name)}</figcaption></figure>`,
)}`
}
