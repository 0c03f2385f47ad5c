import { createConsent } from './consent.ts'
import { createDialog, type Dialog } from './dialog.ts'
import { startEvents, type Track } from './events.ts'
import { failureOf } from './failure.ts'
import { keepKeys } from './keys.ts'
import { button, icon } from './markup.ts'
import { createResultActions } from './result-actions.ts'
import type { Settings } from './settings.ts'
import { createShop, type Offer } from './shop.ts'
import { createSteps, type Step, type Steps } from './steps.ts'
import type { Language } from './texts.ts'
import { readVisit, type Visit } from './visit.ts'

export interface TryOn {
  readonly elements: readonly HTMLElement[]
  readonly track: Track
  open(): void
  stop(): void
}

/** Event of the window after a visitor's photos were erased. */
const ERASED = 'drape-erased'
/** Time limit for the check of credits. */
const CHECK_MS = 1500

/** A button and its dialog, for one product. */
export function createTryOn(
  host: HTMLElement,
  { settings, language }: { settings: Settings; language: Language },
): TryOn {
  const visit = readVisit(settings.hasAnalytics)
  const opener = createOpener(language, open)
  const { track, stop: stopEvents } = startEvents(settings, visit, () => !opener.element.hidden)
  const shop = createShop({ settings, clientId: visit.clientId, track })
  const consent = createConsent({ shop, tag: language.tag })
  const steps = createSteps({ shop, settings, track, consent, solve: () => askPage(host), onStep: show })
  const results = createResultActions({ host, settings, shop, track, clientId: visit.clientId, step: steps.step })
  const dialog: Dialog = createDialog({
    language,
    settings,
    shop,
    consent,
    hasOutfits: () => hasOutfits,
    actions: { ...results, ...steps, withdraw },
    complain: (error) => dialog.show({ name: 'failed', failure: failureOf(error), photo: null }),
    onClose: () => {
      track('widget:modal_close', { step: steps.step().name })
      steps.leaveCamera()
    },
  })
  const releaseKeys = keepKeys(dialog.element)
  const viewed = new Set<string>()
  let hasOutfits = false

  function show(step: Step): void {
    opener.show(step)
    dialog.show(step)
    noteResult(step)
    host.dispatchEvent(new CustomEvent('drape-step', { bubbles: true, composed: true, detail: { step: step.name } }))
  }

  /** A result is counted once, when it is shown. */
  function noteResult(step: Step): void {
    if (step.name !== 'done' || !dialog.element.open || viewed.has(step.result.generationId)) return
    const named = { generation_id: step.result.generationId }
    viewed.add(named.generation_id)
    track('widget:result_view', named)
    if (settings.hasEmail) track('widget:email_prompt_view', named)
  }

  function open(): void {
    track('widget:button_click')
    dialog.show(steps.step())
    dialog.open()
    noteResult(steps.step())
    void steps.recall()
  }

  /** Notifies the other elements of the page, which must hide the visitor's images too. */
  async function withdraw(): Promise<void> {
    await steps.withdraw()
    dispatchEvent(new Event(ERASED))
  }

  const goOn = () => void resumeAfterReconnect(steps)
  const onHidden = () => document.hidden && steps.leaveCamera()
  addEventListener('online', goOn)
  addEventListener(ERASED, steps.clear)
  document.addEventListener('visibilitychange', onHidden)
  const credits = shop.checkCredits().then((offer) => takePart(host, { settings, visit, offer }), allowUnlessRefused)
  const watcher = watchView(opener.element, () => track('widget:button_view'))
  void within(CHECK_MS, credits).then((offer) => {
    opener.reveal(offer)
    watcher.observe(opener.element)
  })
  // A late refusal hides the button too, unless the shopper has used it.
  void credits.then((offer) => {
    hasOutfits = offer.outfits === true
    if (!isOffered(offer) && !dialog.element.open) opener.reveal(offer)
    if (!offer.allowed) console.warn(`drape-try-on: the button is hidden: ${WHY_HIDDEN}`)
  })
  // Only the first element of a page is about the page's product; further ones belong to lists.
  if (document.querySelector(host.localName) === host) track('product_page:page_view')

  return {
    elements: [opener.element, dialog.element],
    track,
    open,
    stop: () => {
      removeEventListener('online', goOn)
      removeEventListener(ERASED, steps.clear)
      document.removeEventListener('visibilitychange', onHidden)
      releaseKeys()
      watcher.disconnect()
      steps.stop()
      stopEvents()
    },
  }
}

/** Asks the page for a CAPTCHA response: only the page knows its provider. */
async function askPage(host: HTMLElement): Promise<string | null> {
  let answer: Promise<string> | null = null
  const detail = {
    answer: (response: Promise<string>) => {
      answer = response
    },
  }
  host.dispatchEvent(new CustomEvent('drape-captcha', { bubbles: true, composed: true, detail }))
  return answer
}

/** Retry delays: a browser that reports to be online may still lack its network for a moment. */
const PAUSES_MS = [0, 1000, 4000]

/** Resumes an attempt that the network interrupted. */
async function resumeAfterReconnect(steps: Steps): Promise<void> {
  for (const pause of PAUSES_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    const step = steps.step()
    if (step.name !== 'failed' || step.failure.code !== 'NETWORK') return
    await steps.start()
  }
}

/** The button on the page, which shows the progress of a try-on while the dialog is closed. */
function createOpener({ texts, tag, direction }: Language, open: () => void) {
  const label = document.createTextNode(texts.button)
  const opener = button('', open, { looks: 'button', symbol: icon('hanger') })
  opener.append(label)
  opener.lang = tag
  opener.dir = direction
  // Reserves its space, but stays invisible until try-ons are known to be available.
  opener.dataset.waiting = ''
  return {
    element: opener,
    show: ({ name }: Step) => {
      opener.dataset.step = name
      const isWork = name === 'sending' || name === 'waiting'
      label.data = isWork ? texts.buttonWorking : name === 'done' ? texts.buttonDone : texts.button
    },
    reveal: (offer: Offer) => {
      opener.hidden = !isOffered(offer)
      delete opener.dataset.waiting
    },
  }
}

const WHY_HIDDEN =
  'the service accepts no try-ons of this shop now. Its account is not active or has no credits, its plan has ended, its monthly limit is used up, or its proxy does not sign requests.'

function isOffered({ allowed, holdout = false }: Offer): boolean {
  return allowed && !holdout
}

/**
 * Reports the group of this visitor to the page, so that purchases of both groups name their visitor. A visitor whose events name no
 * browser or no shop is in neither group.
 */
function takePart(
  host: HTMLElement,
  { settings, visit, offer }: { settings: Settings; visit: Visit; offer: Offer },
): Offer {
  const { holdout, ...others } = offer
  if (holdout === undefined || !settings.hasAnalytics || settings.publishableKey !== null) return others
  if (holdout) console.info('drape-try-on: the button is hidden: this visitor is in the holdout of the shop.')
  const detail = { holdout, attributes: { _drape_anonymous_id: visit.clientId } }
  host.dispatchEvent(new CustomEvent('drape-holdout', { bubbles: true, composed: true, detail }))
  return offer
}

/** A failure counts as allowed, as the fitting room checks again; a shop that the service refuses is not. */
function allowUnlessRefused(error: unknown): Offer {
  return { allowed: failureOf(error).code !== 'PROXY_SIGNATURE_INVALID' }
}

/** A timeout counts as allowed. */
function within(ms: number, asked: Promise<Offer>): Promise<Offer> {
  const late = new Promise<Offer>((resolve) => setTimeout(resolve, ms, { allowed: true }))
  return Promise.race([asked, late])
}

/** Watches nothing yet: an invisible button intersects too. */
function watchView(target: HTMLElement, onView: () => void): IntersectionObserver {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting) || target.hidden) return
    observer.disconnect()
    onView()
  })
  return observer
}
