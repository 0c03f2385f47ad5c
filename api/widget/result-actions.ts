import type { Track } from './events.ts'
import { Failure } from './failure.ts'
import { element } from './markup.ts'
import type { Result } from './results.ts'
import type { Settings, Size } from './settings.ts'
import type { Shop } from './shop.ts'
import type { Step } from './steps.ts'
import type { ResultActions } from './views/result-view.ts'

export interface ResultActionOptions {
  readonly host: HTMLElement
  readonly settings: Settings
  readonly shop: Shop
  readonly track: Track
  readonly clientId: string
  readonly step: () => Step
}

/** Actions of the buttons next to a result. */
export function createResultActions(options: ResultActionOptions): Omit<ResultActions, 'restart' | 'look' | 'tryWith'> {
  const { host, settings, shop, track } = options
  const current = (): Result => {
    const step = options.step()
    if (step.name !== 'done') throw new Failure('UNEXPECTED')
    return step.result
  }
  const named = () => ({ generation_id: current().generationId })

  return {
    share: () => {
      track('widget:share_clicked', named())
      return shop.share(current().generationId)
    },
    download: async () => {
      track('widget:download_clicked', named())
      const { generationId, resultImageUrl, title } = current()
      // The link from the result may have expired meanwhile.
      const fresh = await shop.findGeneration(generationId)
      saveFile(shop.downloadUrl(fresh.resultImageUrl ?? resultImageUrl, title))
    },
    addToCart: async (size) => {
      track('widget:add_to_cart_clicked', named())
      const isAdded = await askShop(options, { generationId: current().generationId, size })
      track(isAdded ? 'widget:add_to_cart_success' : 'widget:add_to_cart_error', named())
      return isAdded
    },
    chosenSize: () => findSize(settings.sizes, host.getAttribute('size')) ?? findSize(settings.sizes, settings.variant),
    chooseSize: (size) => {
      host.setAttribute('size', size.title)
      const detail = { product: settings.product, variant: size.variant, size: size.title }
      host.dispatchEvent(new CustomEvent('drape-size', { bubbles: true, composed: true, detail }))
    },
    leaveEmail: (email, marketingConsent) => {
      const properties = { ...named(), marketing_consent: marketingConsent }
      // The interface: shoppers see no error of this call.
      shop
        .leaveEmail(email, marketingConsent)
        .then(({ success }) => success && track('widget:email_collected', properties))
        .catch(() => {})
    },
  }
}

/** The size that can be bought with this title or ID, with or without its platform. */
function findSize(sizes: readonly Size[], name: string | null): Size | null {
  const idOf = (id: string | null) => id?.split('/').pop()
  return sizes.find((size) => !size.isSoldOut && (size.title === name || idOf(size.variant) === idOf(name))) ?? null
}

function saveFile(url: string): void {
  const link = element('a', { href: url, download: true })
  document.body.append(link)
  link.click()
  link.remove()
}

/**
 * Asks the page to add to its cart: the page handles the event and reports success. False when the page does not handle
 * it.
 */
async function askShop(
  { host, settings, clientId }: ResultActionOptions,
  { generationId, size }: { generationId: string; size: Size | null },
): Promise<boolean> {
  const work: Promise<unknown>[] = []
  const detail = {
    ...{
      product: settings.product,
      variant: size?.variant ?? settings.variant,
      size: size?.title ?? null,
      generationId,
    },
    /** Cart attribute with the browser's ID from events, so that an order can be attributed to a try-on. */
    attributes: { _drape_anonymous_id: settings.publishableKey === null ? clientId : `anon_${clientId}` },
    waitUntil: (promise: Promise<unknown>) => void work.push(promise),
  }
  host.dispatchEvent(new CustomEvent('drape-add-to-cart', { bubbles: true, composed: true, detail }))
  const ended = await Promise.allSettled(work)
  return ended.length > 0 && ended.every(({ status }) => status === 'fulfilled')
}
