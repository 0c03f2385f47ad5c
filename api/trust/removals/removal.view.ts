import { type Html, html } from '../../http/answers/html.ts'
import { readPageTexts } from '../../http/answers/page-texts.ts'
import { type PageOptions, presentFacts, presentTextPage } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import en from './removal-texts/en.json' with { type: 'json' }
import type { RemovalStatus } from './removals.store.ts'

/** The languages of the widget. */
export const REMOVAL_TEXTS = readPageTexts(en, new URL('removal-texts/', import.meta.url))

/** What the visitor entered, of a form that was refused. */
type Entered = Readonly<Partial<Record<'email' | 'reason', string>>>

export function presentRemovalForm({ reference, ...options }: PageOptions & { readonly reference: string }): string {
  const { title, lead, stored } = REMOVAL_TEXTS[options.language]
  const content = html`
        <p>${lead}</p>
        <p>${stored}</p>${formOf(reference, options.language)}`
  return presentTextPage({ heading: title, content, ...options })
}

/** The file is last, so that the other entries are known when it is refused. */
function formOf(reference: string, language: string, { email = '', reason = '' }: Entered = {}): Html {
  const texts = REMOVAL_TEXTS[language]
  return html`
        <form method="post" action="/removal?lang=${language}" enctype="multipart/form-data">
          <input type="hidden" name="reference" value="${reference}">
          <label>${texts.email}<input type="email" name="email" autocomplete="email" maxlength="254" required value="${email}"></label>
          <label>${texts.reason}<textarea name="reason" rows="4" minlength="3" maxlength="1000" dir="auto" required>${reason}</textarea></label>
          <label>${texts.image}<input type="file" name="file" accept="image/*" required></label>
          <button>${texts.button}</button>
        </form>`
}

export function presentRemovalState({
  state,
  answer,
  createdAt,
  dueAt,
  decidedAt,
  reference,
  ...options
}: RemovalStatus & PageOptions & { readonly reference: string }): string {
  const texts = REMOVAL_TEXTS[options.language]
  const { heading, text } = texts.states[state]
  const facts = presentFacts([
    [texts.reference, reference],
    [texts.sent, presentTime(createdAt)],
    decidedAt === null ? [texts.due, presentTime(dueAt)] : [texts.decided, presentTime(decidedAt)],
    [texts.answer, answer],
  ])
  const content = html`
        <p>${text}</p>${facts}
        <p>${texts.keep} <a href="/removal/${reference}" dir="ltr">/removal/${reference}</a></p>`
  return presentTextPage({ heading, content, ...options })
}

/** Errors of the form, which is shown again with its entries. */
const CORRECTABLE: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'FILE_REQUIRED',
  'FILE_TOO_LARGE',
  'INVALID_IMAGE',
  'UNSUPPORTED_IMAGE_TYPE',
]

/** The page that explains a refusal; null when the reason does not concern visitors. */
export function presentRemovalRefusal(
  code: ErrorCode,
  { reference, entered, ...options }: PageOptions & { readonly reference: string; readonly entered: Entered },
): string | null {
  const { problems, failed, again, back } = REMOVAL_TEXTS[options.language]
  if (!Object.hasOwn(problems, code)) return null
  const problem = html`<p role="alert">${problems[code as keyof typeof problems]}</p>`
  const content = CORRECTABLE.includes(code)
    ? html`${problem}<p>${again}</p>${formOf(reference, options.language, entered)}`
    : html`${problem}<p><a href="/removal?lang=${options.language}">${back}</a></p>`
  return presentTextPage({ heading: failed, content, ...options })
}

function presentTime(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ')
}
