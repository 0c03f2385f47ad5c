import type { Consent } from '../consent.ts'
import { button, element } from '../markup.ts'
import { hasRememberedPhoto } from '../photo.ts'
import { recallResults } from '../results.ts'
import type { Settings } from '../settings.ts'
import type { ConsentNotice } from '../shop.ts'
import type { Texts } from '../texts.ts'

export interface ConsentViewOptions {
  readonly consent: Consent
  readonly texts: Texts
  readonly settings: Settings
  readonly announce: (text: string) => void
  /** Erases the photos and confirms the erasure. */
  readonly withdraw: (text: string) => void
}

/** Asks for consent if the shop requires it; otherwise explains the use of the photo. */
export function presentConsent(options: ConsentViewOptions) {
  const { consent, texts, announce } = options
  const box: HTMLInputElement = element('input', { type: 'checkbox', id: 'consent', required: true })
  const problem = element('p', { class: 'warning small', id: 'consent-problem', hidden: true }, texts.consentMissing)
  const place = element('div', { class: 'stack', part: 'consent' })
  const loaded = consent.load()
  void loaded.then((notice) => {
    place.append(...(mustAgree(notice) ? [ask(notice, box), problem] : [say(texts)]), links(notice, options))
    place.dataset.loaded = ''
  })
  box.addEventListener('change', () => {
    problem.hidden = box.checked
    box.setAttribute('aria-invalid', String(!box.checked))
  })
  return {
    element: place,
    /** Whether the photo may be sent. Moves the focus to the checkbox if it is not ticked. */
    check: async (): Promise<boolean> => {
      const notice = await loaded
      if (!mustAgree(notice)) return true
      if (box.checked) {
        consent.agree(notice)
        return true
      }
      problem.hidden = false
      box.setAttribute('aria-invalid', 'true')
      box.setAttribute('aria-describedby', problem.id)
      announce(texts.consentMissing)
      box.focus()
      return false
    },
  }
}

/**
 * Lets a visitor withdraw consent, or delete photos that were sent without consent, after one question. Empty if there is nothing to
 * delete.
 */
export function presentWithdrawal({ consent, texts, withdraw }: ConsentViewOptions): HTMLElement {
  const place = element('div', { class: 'stack' })
  void consent.load().then((notice) => {
    const text = notice?.givenAt ? texts.withdraw : hasPhotos() ? texts.erase : null
    if (text === null) return
    const offer = button(text, () => place.replaceChildren(...question), { looks: 'plain' })
    const erase = button(text, () => withdraw(notice?.givenAt ? texts.withdrawn : texts.erased), { looks: 'secondary' })
    const keep = button(texts.back, () => place.replaceChildren(offer), { looks: 'plain' })
    const question = [element('p', { class: 'small', role: 'alert' }, texts.eraseSure), erase, keep]
    place.append(offer)
  })
  return place
}

function hasPhotos(): boolean {
  return hasRememberedPhoto() || recallResults().length > 0
}

function mustAgree(notice: ConsentNotice | null): notice is ConsentNotice {
  return notice?.required === true && notice.givenAt === null
}

function ask({ text, language }: ConsentNotice, box: HTMLInputElement): HTMLElement {
  return element('label', { class: 'choice', lang: language }, box, element('span', {}, text))
}

function say(texts: Texts): HTMLElement {
  return element('p', { class: 'soft small' }, texts.consent)
}

function links(notice: ConsentNotice | null, { settings, texts }: ConsentViewOptions): HTMLElement {
  const href = settings.privacyUrl ?? notice?.privacyUrl
  const link = href && element('a', { href, target: '_blank', rel: 'noopener', part: 'privacy' }, texts.privacy)
  return element('p', { class: 'small' }, link || null)
}
