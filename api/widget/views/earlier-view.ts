import { element } from '../markup.ts'
import type { Result } from '../results.ts'
import type { Shop } from '../shop.ts'
import { fill, type Texts } from '../texts.ts'
import { resultImage } from './result-image.ts'

export interface EarlierOptions {
  readonly texts: Texts
  readonly shop: Shop
  readonly onlyProxy: boolean
  readonly look: (result: Result) => void
}

/** The other results of this tab, each of which can be shown again. Empty without any. */
export function presentEarlier(
  results: readonly Result[],
  shownId: string | null,
  options: EarlierOptions,
): HTMLElement[] {
  if (results.every(({ generationId }) => generationId === shownId)) return []
  const { texts, look } = options
  const items = results.map((result) => {
    const isShown = result.generationId === shownId
    const open = element(
      'button',
      { type: 'button', 'aria-current': isShown ? 'true' : null, click: () => look(result) },
      resultImage(result, { ...options, alt: nameOf(result, texts) }),
    )
    return element('li', {}, open)
  })
  return [
    element(
      'section',
      { class: 'earlier', part: 'earlier' },
      element('h3', { id: 'earlier' }, texts.earlier),
      element('ul', { 'aria-labelledby': 'earlier' }, ...items),
    ),
  ]
}

/** What a result shows, in words. */
export function nameOf({ title }: Result, texts: Texts): string {
  return title === '' ? texts.resultAltPlain : fill(texts.resultAlt, { product: title })
}
