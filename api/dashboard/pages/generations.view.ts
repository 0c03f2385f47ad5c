import type { FoundGeneration, GenerationDetail, GenerationEvent } from '../../generations/generation-search.store.ts'
import { findResultKey, presentGeneration as presentToCaller } from '../../generations/generations.view.ts'
import { type Html, html } from '../../http/answers/html.ts'
import type { Status, StoredResult } from '../../shared/generations/generation.ts'
import type { GenerationRecord } from '../../shared/generations/generations.store.ts'
import { actForm, permittedLink } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { badge, type Content, code, facts, section, type Tone, table, when } from '../html/elements.ts'
import { accountLink, copiedId, generationLink, shortId } from '../html/ids.ts'
import type { Column } from '../html/list.view.ts'
import { time } from '../html/times.ts'
import { presentWaterfall } from '../html/waterfall.ts'

const TONES: Readonly<Record<Status, Tone>> = {
  PENDING: 'quiet',
  PROCESSING: 'busy',
  COMPLETED: 'good',
  FAILED: 'bad',
}

export const GENERATION_COLUMNS: readonly Column<FoundGeneration>[] = [
  { head: 'ID', of: ['id'], cell: ({ id }) => generationLink(id) },
  {
    head: 'Status',
    of: ['status', 'errorCode'],
    cell: ({ status, errorCode }) =>
      html`${badge(status.toLowerCase(), TONES[status])}${when(errorCode, html`<br>${code(errorCode ?? '')}`)}`,
  },
  {
    head: 'Account',
    of: ['accountName', 'accountId'],
    cell: ({ accountId: id, accountName: name }) => accountLink({ id, name }),
  },
  {
    head: 'Product',
    of: ['productExternalId', 'productTitle'],
    cell: ({ productExternalId, productTitle }) =>
      html`${productExternalId}${when(productTitle, html`<br><span class="beneath">${productTitle ?? ''}</span>`)}`,
  },
  { head: 'Engine', of: ['engine'] },
  { head: 'Seconds', of: ['seconds'], cell: ({ seconds }) => seconds?.toFixed(1) ?? '' },
  { head: 'Accepted (UTC)', of: ['createdAt'] },
]

export const NO_GENERATIONS = html`There are no generations yet. Start one in the playground of the API (${code('/playground')}) with a key of an account.`

export function presentGeneration(
  generation: GenerationDetail,
  {
    events,
    record,
    forms,
    showsWorkers,
  }: {
    readonly events: readonly GenerationEvent[]
    /** Null when the generation was deleted meanwhile. */
    readonly record: GenerationRecord | null
    readonly forms: Forms
    /** Whether to name workers, which are hosts of the installation. */
    readonly showsWorkers: boolean
  },
): Html {
  const { id, status, errorCode, errorMessage, errorDetails, warnings } = generation
  return html`${facts([
    ['ID', copiedId(id)],
    ['Status', badge(status.toLowerCase(), TONES[status])],
    ...(errorCode === null
      ? []
      : ([
          [
            'Error',
            html`${code(errorCode)}<br>${errorMessage ?? ''}${(errorDetails ?? []).map(({ path }) => html`<br>${code(path)}`)}`,
          ],
        ] as const)),
    ['Account', accountLink({ id: generation.accountId, name: generation.accountName })],
    [
      'Shop',
      generation.shopId === null
        ? 'none'
        : html`<a href="/shops/${generation.shopId}">${shortId(generation.shopId)}</a>`,
    ],
    ...(generation.externalUserId === null
      ? []
      : ([['Person', permittedLink({ forms, path: `/people?q=${id}` }, 'Open', 'stored')]] as const)),
    ['Product', generation.productExternalId],
    ['Engine', engineOf(generation)],
    ...(generation.requestedEngine === null ? [] : ([['Requested engine', generation.requestedEngine]] as const)),
    ['Category', generation.category ?? 'not known'],
    ['Quality', generation.quality === null ? 'not known' : generation.quality.toFixed(2)],
    ['Cost', String(generation.cost)],
    ...(generation.reusedFrom === null
      ? []
      : ([['Reuses the result of', generationLink(generation.reusedFrom)]] as const)),
    [
      'Attempt',
      generation.attempt > 1
        ? `${generation.attempt}, so it was retried ${generation.attempt - 1}×`
        : String(generation.attempt),
    ],
    ...(showsWorkers ? ([['Worker', generation.worker ?? 'none']] as const) : []),
    ['Images are stored until', time(generation.imagesExpireAt)],
  ])}
<div class="columns">${section('Times (UTC)', times(generation))}${section('Stages', presentWaterfall(generation.timings ?? {}))}</div>
${when(generation.pastAttempts.length > 0, section('Previous attempts', presentPastAttempts(generation, showsWorkers)))}
${section('Events', presentEvents(generation, { events, forms, showsWorkers }))}
${when(generation.layers !== null, section('Layers', presentLayers(generation)))}
${section('Warnings', warnings.length === 0 ? html`<p class="empty">None.</p>` : html`<ul>${warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`)}
<div class="columns">${section('Options', json(generation.options))}${section('Product at acceptance', json(generation.snapshot))}</div>
${when(record, section('Answer of the API', record === null ? html`` : presentAnswer(record)))}
<div id="images">${section('Images', imageForm(generation, forms))}</div>
${when(isRunning(generation), html`<div id="cancel">${section('Cancel', cancelForm(id, forms))}</div>`)}`
}

export function isRunning({ status }: Pick<FoundGeneration, 'status'>): boolean {
  return status === 'PENDING' || status === 'PROCESSING'
}

/** Links to the forms at the end of the page that this operator may submit. */
export function presentGenerationActions(generation: GenerationDetail, mayPost: (path: string) => boolean): Html {
  const { id } = generation
  const mayShow = imagesOf(generation).length > 0 && mayPost(`/generations/${id}/image`)
  const mayCancel = isRunning(generation) && mayPost(`/generations/${id}/cancel`)
  return html`${when(mayShow, html`<a class="button quiet" href="#images">Show an image</a>`)}${when(mayCancel, html`<a class="button quiet" href="#cancel">Cancel</a>`)}`
}

/** What happened to it and because of it, in the order of time. */
function presentEvents(
  generation: GenerationDetail,
  {
    events,
    forms,
    showsWorkers,
  }: { readonly events: readonly GenerationEvent[]; readonly forms: Forms; readonly showsWorkers: boolean },
): Html {
  const { createdAt, startedAt, finishedAt, status, attempt, worker, id } = generation
  const own = [
    { at: createdAt, what: 'accepted', about: '' },
    { at: startedAt, what: `started, attempt ${attempt}`, about: (showsWorkers && worker) || '' },
    { at: finishedAt, what: status.toLowerCase(), about: generation.errorCode ?? '' },
  ].flatMap(({ at, ...event }) => (at === null ? [] : [{ ...event, at, link: null }]))
  const all = [...own, ...events].toSorted((a, b) => a.at.getTime() - b.at.getTime())
  return html`${table({
    caption: 'Events of the generation, oldest first',
    head: ['Time (UTC)', 'Event', 'Details'],
    rows: all.map(({ at, what, about, link }): Content[] => [
      time(at),
      link === null ? what : html`<a href="${link}">${what}</a>`,
      about,
    ]),
    empty: '',
  })}<p>${permittedLink({ forms, path: `/audit?q=${encodeURIComponent(id)}` }, 'Actions of operators')}</p>`
}

function presentLayers({ layers }: GenerationDetail): Html {
  return table({
    caption: 'Products of the outfit, in the order of the call',
    head: ['Product', 'Layer', 'State', 'Quality', 'Warnings'],
    rows: (layers ?? []).map(({ externalId, title, layer, applied, quality, warnings = [], errorCode }): Content[] => [
      html`${externalId}${when(title, html`<br><span class="beneath">${title ?? ''}</span>`)}`,
      layer,
      applied === undefined ? '' : applied ? 'applied' : html`left out<br>${code(errorCode ?? '')}`,
      typeof quality === 'number' ? quality.toFixed(2) : '',
      warnings.join(', '),
    ]),
    empty: '',
    numeric: [3],
  })
}

const ENDS: Readonly<Record<GenerationDetail['pastAttempts'][number]['reason'], string>> = {
  lost: 'the worker was lost',
  retried: 'error, retried',
  spared: 'device or signing key failed; the attempt does not count',
}

function presentPastAttempts({ pastAttempts }: GenerationDetail, showsWorkers: boolean): Html {
  const at = (text: string | null) => time(text === null ? null : new Date(text))
  return table({
    caption: 'Attempts without a result, oldest first',
    head: ['Attempt', ...(showsWorkers ? ['Worker'] : []), 'Started (UTC)', 'Ended (UTC)', 'End'],
    rows: pastAttempts.map(({ attempt, worker, startedAt, endedAt, reason }): Content[] => [
      ...[String(attempt), ...(showsWorkers ? [worker ?? 'none'] : []), at(startedAt), at(endedAt), ENDS[reason]],
    ]),
    empty: '',
    numeric: [0],
  })
}

const HIDDEN = 'hidden'

function hideUrls({ key, changedKey }: StoredResult) {
  return { imageUrl: key ? HIDDEN : null, changedMaskUrl: changedKey ? HIDDEN : null }
}

/** The links lead to images and to the appeal without a sign-in, and the salt is a secret of the account. */
function presentAnswer(record: GenerationRecord): Html {
  const answer = presentToCaller(
    { ...record, ingredientSalt: record.ingredientSalt && HIDDEN },
    {
      resultImageUrl: findResultKey(record) && HIDDEN,
      resultUrls: findResultKey(record) ? (record.results ?? []).map(hideUrls) : [],
      wait: null,
      appealUrl: record.isAppealable ? HIDDEN : null,
    },
  )
  return html`<p class="hint">${code(`GET /tryon/v1/generations/${record.id}`)}, with links and secrets hidden and without the estimated wait.</p>${json(answer)}`
}

function engineOf({ engine, engineInfo }: GenerationDetail): string {
  const { version } = (engineInfo ?? {}) as { version?: string }
  return version === undefined ? engine : `${engine} ${version}`
}

function times({ createdAt, startedAt, finishedAt, deadlineAt }: GenerationDetail): Html {
  return facts([
    ['Accepted', time(createdAt)],
    ['Started', time(startedAt)],
    ['Ended', time(finishedAt)],
    ['Deadline', time(deadlineAt)],
  ])
}

function json(value: unknown): Html {
  return html`<pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`
}

function cancelForm(id: string, forms: Forms): Html {
  return actForm({
    action: `/generations/${id}/cancel`,
    forms,
    submit: 'Cancel the generation',
    danger: true,
    body: ({ field }) =>
      field({
        name: 'reason',
        label: 'Reason for cancelling',
        required: true,
        minLength: 3,
        hint: 'The credits are refunded.',
      }),
  })
}

/** The stored images of a generation. */
export function imagesOf({
  personKey,
  resultKey,
  results,
}: Pick<GenerationDetail, 'personKey' | 'resultKey' | 'results'>) {
  const others = results?.flatMap(({ key }) => key ?? []).filter((key) => key !== resultKey) ?? []
  const images = [
    { name: 'result', label: 'the result', key: resultKey },
    ...others.map((key, i) => ({ name: `result ${i + 2}`, label: `result ${i + 2}`, key })),
    { name: 'person', label: 'the photo of the person', key: personKey },
  ]
  return images.flatMap(({ key, ...image }) => (key === null ? [] : [{ ...image, key }]))
}

function imageForm(generation: GenerationDetail, forms: Forms): Html {
  const { id } = generation
  const options = imagesOf(generation).map(({ name, label }) => [name, label] as const)
  if (options.length === 0) return html`<p class="empty">The generation has no images, or they have been deleted.</p>`
  const reason = {
    name: 'reason',
    label: 'Reason',
    required: true,
    minLength: 3,
    hint: 'The image shows a person. The audit log records who opened it and why.',
  }
  return actForm({
    action: `/generations/${id}/image`,
    forms,
    submit: 'Show the image',
    body: ({ choice, field }) => html`${choice({ name: 'which', label: 'Image', options })}${field(reason)}`,
  })
}

export function presentImage({ id, which, source }: { id: string; which: string; source: string }): Html {
  return html`<p><a href="/generations/${id}">Back to the generation</a></p>
<img class="image" src="${source}" alt="The ${which} of the generation">`
}
