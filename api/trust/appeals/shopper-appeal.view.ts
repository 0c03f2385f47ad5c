import { type Html, html } from '../../http/answers/html.ts'
import { readPageTexts } from '../../http/answers/page-texts.ts'
import { type PageOptions, presentFacts, presentTextPage } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import en from './appeal-texts/en.json' with { type: 'json' }
import type { ShopperAppeal } from './shopper-appeal.schema.ts'

/** The languages of the widget. */
export const APPEAL_TEXTS = readPageTexts(en, new URL('appeal-texts/', import.meta.url))

/** The refusal with a form, or the state of its review. */
export function presentAppeal({
  appeal,
  reference,
  ...options
}: PageOptions & { readonly appeal: ShopperAppeal; readonly reference: string }): string {
  const texts = APPEAL_TEXTS[options.language]
  const { state } = appeal
  if (state === null) {
    const content = html`<p>${texts.lead}</p>${refusalOf(appeal, texts)}${formOf(reference, options.language)}`
    return presentTextPage({ heading: texts.title, content, ...options })
  }
  const { heading, text } = texts.states[state]
  const content = html`
        <p>${text}</p>${appeal.reason === null ? html`<p>${texts.byShop}</p>` : html``}${reviewOf(appeal, texts)}
        <p>${texts.keep}</p>`
  return presentTextPage({ heading, content, ...options })
}

function formOf(reference: string, language: string): Html {
  const { label, readers, button } = APPEAL_TEXTS[language]
  return html`
        <form method="post" action="/appeal/${reference}?lang=${language}" enctype="multipart/form-data">
          <label>${label}<textarea name="reason" rows="5" minlength="3" maxlength="1000" dir="auto" required></textarea></label>
          <p>${readers}</p>
          <button>${button}</button>
        </form>`
}

function refusalOf({ code, image }: ShopperAppeal, { refused, images, why, reasons }: typeof en): Html {
  return presentFacts([
    [refused, images[image]],
    [why, `${reasons[code as keyof typeof reasons]} (${code})`],
  ])
}

function reviewOf(appeal: ShopperAppeal, texts: typeof en): Html {
  const { reason, answer, createdAt, decidedAt } = appeal
  const review = presentFacts([
    [texts.yours, reason],
    [texts.sent, presentTime(createdAt)],
    [texts.answer, answer],
    [texts.decided, presentTime(decidedAt)],
  ])
  return html`${refusalOf(appeal, texts)}${review}`
}

function presentTime(time: string | null): string | null {
  return time?.slice(0, 16).replace('T', ' ') ?? null
}

/** The page that explains an error; null when the error does not concern visitors. */
export function presentAppealRefusal({ code, ...options }: PageOptions & { readonly code: ErrorCode }): string | null {
  const { failed, problems } = APPEAL_TEXTS[options.language]
  if (!Object.hasOwn(problems, code)) return null
  const content = html`<p>${problems[code as keyof typeof problems]}</p>`
  return presentTextPage({ heading: failed, content, ...options })
}
