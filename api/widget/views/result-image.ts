import { Failure, failureOf } from '../failure.ts'
import { element } from '../markup.ts'
import { forgetResult, type Result } from '../results.ts'
import type { Shop } from '../shop.ts'
import type { Texts } from '../texts.ts'

export interface ResultImageOptions {
  readonly alt: string
  readonly texts: Texts
  readonly shop: Shop
  readonly onlyProxy: boolean
}

/** URLs of an image of the service: a policy of the page may forbid the service's origin, but rarely the shop's own. */
export function waysTo(url: string, { shop, onlyProxy }: Pick<ResultImageOptions, 'shop' | 'onlyProxy'>): string[] {
  return onlyProxy ? [shop.downloadUrl(url)] : [url, shop.downloadUrl(url)]
}

/**
 * The image of a result. The URL of an earlier result may have expired, so that the service gives a new one.
 */
export function resultImage(result: Result, { alt, texts, shop, onlyProxy }: ResultImageOptions): HTMLImageElement {
  const ways = (url: string) => waysTo(url, { shop, onlyProxy })
  const image = element('img', { alt })
  let left = ways(result.resultImageUrl)
  let isFresh = false
  const next = async () => {
    if (left.length === 0 && !isFresh) {
      isFresh = true
      const found = await shop.findGeneration(result.generationId).catch(failureOf)
      const url = found instanceof Failure ? undefined : found.resultImageUrl
      const isGone = found instanceof Failure ? found.code === 'GENERATION_NOT_FOUND' : url === undefined
      if (isGone) forgetResult(result.generationId)
      left = url === undefined ? [] : ways(url)
    }
    const url = left.shift()
    if (url === undefined) image.replaceWith(element('p', { class: 'figure small' }, texts.pictureGone))
    else image.src = url
  }
  image.addEventListener('error', () => void next())
  void next()
  return image
}
