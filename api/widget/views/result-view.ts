import { button, element, icon } from '../markup.ts'
import type { Result } from '../results.ts'
import type { Look, Settings } from '../settings.ts'
import type { ShareLink } from '../shop.ts'
import type { Language } from '../texts.ts'
import { fill } from '../texts.ts'
import { type CartActions, presentCart } from './cart-view.ts'
import { presentEmail } from './email-view.ts'
import { heading } from './photo-view.ts'

export interface ResultActions extends CartActions {
  readonly share: () => Promise<ShareLink>
  readonly download: () => Promise<void>
  readonly leaveEmail: (email: string, marketingConsent: boolean) => void
  readonly restart: () => void
  /** Shows an earlier result. */
  readonly look: (result: Result) => void
  readonly tryWith: (look: Look) => void
}

export interface ResultOptions {
  readonly language: Language
  readonly settings: Settings
  /** Whether the shop can make outfits. */
  readonly hasOutfits: () => boolean
  readonly actions: ResultActions
  readonly announce: (text: string) => void
  /** Called with an error. */
  readonly complain: (error: unknown) => void
}

/** Shows the actions for a result. */
export function presentResult(result: Result, options: ResultOptions): HTMLElement[] {
  const { language, settings, hasOutfits, actions, announce, complain } = options
  const { texts } = language
  const place = element('div', { class: 'stack' })
  const share = button(texts.share, () => void shareLink(result, { ...options, place }).catch(complain), {
    looks: 'secondary',
    symbol: icon('share'),
  })
  const download = button(texts.download, () => void actions.download().catch(complain), {
    looks: 'secondary',
    symbol: icon('download'),
  })
  // The page can sell and combine only its own product.
  const isOwn = result.product === settings.product
  const looks = isOwn && hasOutfits() ? settings.looks : []
  return [
    heading(texts.doneHeading),
    element('p', { class: 'soft small', part: 'note' }, texts.note),
    ...(isOwn && settings.hasCart ? [presentCart({ texts, sizes: settings.sizes, actions, announce })] : []),
    ...looks.map((look) =>
      button(fill(texts.tryWith, { product: look.title }), () => actions.tryWith(look), {
        looks: 'secondary',
        symbol: icon('hanger'),
      }),
    ),
    element('div', { class: 'row' }, share, download),
    place,
    ...(settings.hasEmail ? [presentEmail(texts, { leave: actions.leaveEmail, announce })] : []),
    button(texts.another, actions.restart, { looks: 'plain' }),
  ]
}

/** Shows the link, and opens the system's share dialog if there is one. */
async function shareLink(
  { title }: Result,
  { place, actions, announce, language }: ResultOptions & { readonly place: HTMLElement },
): Promise<void> {
  const link = await actions.share()
  place.replaceChildren(presentLink(link, language, announce))
  const data = { url: link.shareUrl, ...(title && { title }) }
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
