import { type Html, html } from '../../http/answers/html.ts'
import type { SafetyCheck } from '../../shared/contract/errors.ts'
import type { ListedReview, Review } from '../../trust/appeals/safety-reviews.store.ts'
import { actForm, permittedLink } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { badge, facts, section, type Tone, when } from '../html/elements.ts'
import { ACCOUNT_COLUMN, shortId } from '../html/ids.ts'
import type { Column } from '../html/list.view.ts'
import { time } from '../html/times.ts'

const TONES: Readonly<Record<Review['state'], Tone>> = {
  OPEN: 'busy',
  ALLOWED: 'good',
  REFUSED: 'quiet',
  BLOCKED: 'bad',
}

const CHECKS: Readonly<Record<SafetyCheck, string>> = {
  nudity: 'nudity',
  exposure: 'underwear or swimwear',
  people: 'several people',
  age: 'perhaps not an adult',
  blocked: 'blocked by an operator',
  list: 'on the list of the operator',
  'result-nudity': 'nudity',
  'result-skin': 'more skin than the photo and the product require',
}

export const REVIEW_COLUMNS: readonly Column<ListedReview>[] = [
  {
    head: 'Generation',
    of: ['id'],
    cell: ({ id }, forms) => permittedLink({ forms, path: `/reviews/${id}` }, shortId(id), shortId(id)),
  },
  { head: 'State', of: ['state'], cell: stateOf },
  { head: 'Refused', of: ['check', 'image'], cell: refusalOf },
  { head: 'By', of: ['byShopper'], cell: ({ byShopper }) => (byShopper ? 'shopper' : 'account') },
  ACCOUNT_COLUMN,
  { head: 'Received (UTC)', of: ['createdAt'] },
]

export const REVIEW_WORDS = {
  title: 'Reviews',
  caption: 'Reviews: open reviews first, alternating between accounts and shops, oldest first',
  before: html`<p>Accounts and shoppers appeal refusals by safety checks. Neither a refusal nor an appeal costs credits. <a href="/blocks">Blocked images</a></p>`,
  empty: html`No reviews yet. A review appears when an account or a shopper appeals a refusal; set the safety level on the page of an <a href="/accounts">account</a>.`,
} as const

function stateOf({ state }: Review): Html {
  return badge(state.toLowerCase(), TONES[state])
}

function refusalOf({ check, image }: Review): string {
  return `${image === null ? 'result' : image === 'person' ? 'photo' : 'product image'}: ${CHECKS[check]}`
}

export function presentReview(review: Review, forms: Forms): Html {
  const { generationId, accountId, shopId, reason, byShopper, state, answer, createdAt, decidedAt, usedBy } = review
  return html`${facts([
    ['Generation', html`<a href="/generations/${generationId}">${shortId(generationId)}</a>`],
    ['Account', html`<a href="/accounts/${accountId}">${shortId(accountId)}</a>`],
    ...(shopId === null ? [] : ([['Shop', html`<a href="/shops/${shopId}">${shortId(shopId)}</a>`]] as const)),
    ['State', stateOf(review)],
    ['Refused', refusalOf(review)],
    ['Received', time(createdAt)],
    ...(decidedAt === null ? [] : ([['Decided', time(decidedAt)]] as const)),
    [byShopper ? 'Reason of the shopper' : 'Reason of the account', html`<span class="wide">${reason}</span>`],
    ...(answer === null ? [] : ([['Answer', html`<span class="wide">${answer}</span>`]] as const)),
    ...(usedBy === null ? [] : ([['Used by generation', shortId(usedBy)]] as const)),
  ])}
${when(state === 'OPEN', section('Decide', decisionForm(review, forms)))}`
}

const DECISIONS = [
  ['REFUSED', 'refuse: uphold the refusal'],
  ['ALLOWED', 'allow: the next try-on of the account with this photo and product image passes this check, once'],
  [
    'BLOCKED',
    'block: from now on, refuse the image (for a refused result, the photo with this product image) in every account with a safety level',
  ],
] as const

function decisionForm({ generationId, version, byShopper }: Review, forms: Forms): Html {
  return actForm({
    action: `/reviews/${generationId}/decide`,
    forms,
    submit: 'Decide',
    body: ({ edition, choice, field }) => html`${edition(String(version))}
${choice({ name: 'decision', label: 'Decision', options: DECISIONS, value: 'REFUSED' })}
${field({ name: 'blockDays', label: 'Days until a block ends', type: 'number', min: 1, max: 3650, hint: 'Only for a block. Empty: no end.' })}
${field({
  name: 'answer',
  label: 'Answer',
  required: true,
  minLength: 3,
  hint: byShopper
    ? 'The shopper and the account read it. It is not in the audit log.'
    : 'The account reads it. It is not in the audit log.',
})}`,
  })
}
