import { button, element, icon } from '../markup.ts'
import type { Settings } from '../settings.ts'
import type { ShareLink } from '../shop.ts'
import type { Language } from '../texts.ts'
import { fill } from '../texts.ts'
import { presentEmail } from './email-view.ts'
import { heading } from './photo-view.ts'

export interface ResultActions {
  readonly share: () => Promise<ShareLink>
  readonly download: () => Promise<void>
  /** Returns false when the shop did not add the product. */
  readonly addToCart: () => Promise<boolean>
  readonly leaveEmail: (email: string, marketingConsent: boolean) => void
  readonly restart: () => void
}

export interface ResultOptions {
  readonly language: Language
  readonly settings: Settings
  readonly actions: ResultActions
  readonly announce: (text: string) => void
  /** Called with an error. */
  readonly complain: (error: unknown) => void
}

/** Shows the actions for a result. */
export function presentResult(options: ResultOptions): HTMLElement[] {
  const { language, settings, actions, complain } = options
  const { texts } = language
  const place = element('div', { class: 'stack' })
  const share = button(texts.share, () => void shareLink(place, options).catch(complain), {
    looks: 'secondary',
    symbol: icon('share'),
  })
  const download = button(texts.download, () => void actions.download().catch(complain), {
    looks: 'secondary',
    symbol: icon('download'),
  })
  return [
    heading(texts.doneHeading),
    element('p', { class: 'soft small' }, texts.note),
    ...(settings.hasCart ? [cartButton(options)] : []),
    element('div', { class: 'row' }, share, download),
    place,
    ...(settings.hasEmail ? [presentEmail(texts, { leave: actions.leaveEmail, announce: options.announce })] : []),
    button(texts.another, actions.restart, { looks: 'plain' }),
  ]
}

function cartButton({ language: { texts }, actions, announce }: ResultOptions): HTMLElement {
  const said = element('p', { class: 'small' })
  const add = button(texts.cart, () => void put(), { looks: 'primary' })
  const put = async () => {
    add.disabled = true
    const text = (await actions.addToCart()) ? texts.cartAdded : texts.cartFailed
    add.disabled = false
    said.textContent = text
    announce(text)
  }
  return element('div', { class: 'stack' }, add, said)
}

/** Shows the link, and opens the system's share dialog if there is one. */
async function shareLink(place: HTMLElement, options: ResultOptions): Promise<void> {
  const { actions, settings, announce, language } = options
  const link = await actions.share()
  place.replaceChildren(presentLink(link, language, announce))
  const data = { url: link.shareUrl, ...(settings.title && { title: settings.title }) }
  // Cancelling the share dialog is not a failure.
  if (navigator.canShare?.(data)) return navigator.share(data).catch(() => {})
  place.querySelector('input')?.select()
}

function presentLink(link: ShareLink, { texts, tag }: Language, announce: (text: string) => void): HTMLElement {
  const field = element('input', { readonly: true, value: link.shareUrl, 'aria-label': texts.shareLink, type: 'url' })
  const copy = async () => {
    field.select()
    await navigator.clipboard?.writeText(link.shareUrl).catch(() => document.execCommand('copy'))
    announce(texts.copied)
  }
  const until = new Intl.DateTimeFormat(tag, { dateStyle: 'long' }).format(new Date(link.expiresAt))
  return element(
    'div',
    { class: 'sharing', part: 'share-link' },
    element(
      'div',
      { class: 'field' },
      field,
      button(texts.copy, () => void copy(), { looks: 'secondary' }),
    ),
    element('p', { class: 'soft small' }, fill(texts.shareUntil, { date: until })),
  )
}
