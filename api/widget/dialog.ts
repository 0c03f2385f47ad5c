import type { Consent } from './consent.ts'
import { element, icon } from './markup.ts'
import { recallResults } from './results.ts'
import type { Settings } from './settings.ts'
import type { Shop } from './shop.ts'
import type { Source, Step } from './steps.ts'
import { explain, type Language } from './texts.ts'
import { presentWithdrawal } from './views/consent-view.ts'
import { presentEarlier } from './views/earlier-view.ts'
import { presentFailure } from './views/failure-view.ts'
import { type PhotoActions, presentCamera, presentPhoto, presentReady } from './views/photo-view.ts'
import { createProgressView, type ProgressView } from './views/progress-view.ts'
import { presentResult, type ResultActions } from './views/result-view.ts'
import { createStage } from './views/stage.ts'

export interface DialogOptions {
  readonly language: Language
  readonly settings: Settings
  readonly shop: Shop
  readonly consent: Consent
  /** Whether the shop can make outfits. */
  readonly hasOutfits: () => boolean
  readonly actions: PhotoActions & ResultActions
  readonly complain: (error: unknown) => void
  readonly onClose: () => void
}

export interface Dialog {
  readonly element: HTMLDialogElement
  show(step: Step): void
  open(): void
}

/** The dialog of the widget. */
export function createDialog(options: DialogOptions): Dialog {
  const { language, settings, shop, actions, onClose } = options
  const { texts, tag, direction } = language
  const stage = createStage({ texts, ...options })
  const panel = element('div', { class: 'panel', part: 'panel' })
  const polite = element('p', { class: 'unseen', role: 'status' })
  const urgent = element('p', { class: 'unseen', role: 'alert' })
  const close = () => dialog.close()
  const cross = element('button', {
    type: 'button',
    class: 'close',
    part: 'close',
    'aria-label': texts.close,
    click: close,
  })
  cross.append(icon('close'))
  const room = element('div', { class: 'room' }, stage.element, panel, cross)
  const dialog: HTMLDialogElement = element(
    'dialog',
    { part: 'dialog', lang: tag, dir: direction, 'aria-label': texts.title, close: onClose },
    ...[room, polite, urgent],
  )
  closeFromOutside(dialog)
  const openBehindBack = closeByBack(dialog)
  takeDrops(dialog, stage.element, actions.choose)
  const announce = (text: string) => {
    polite.textContent = text
  }
  let progress: ProgressView | null = null
  const consenting = {
    texts,
    announce,
    ...options,
    withdraw: (text: string) => {
      actions.withdraw().then(() => {
        announce(text)
        panel.prepend(element('p', { class: 'soft', part: 'notice' }, text))
      }, options.complain)
    },
  }
  let shown: Step['name'] | null = null

  function present(step: Step): HTMLElement[] {
    if (step.name === 'failed') return presentFailure(step.failure, { texts, actions, close, language: tag })
    if (step.name === 'camera') return presentCamera(step, { texts, actions })
    if (step.name === 'sending' || step.name === 'waiting') {
      progress = createProgressView({ texts, announce, cancel: actions.cancel })
      return progress.elements
    }
    const shownId = step.name === 'done' ? step.result.generationId : null
    const { onlyProxy } = settings
    const after = [
      ...presentEarlier(recallResults(), shownId, { texts, shop, onlyProxy, look: actions.look }),
      presentWithdrawal(consenting),
    ]
    if (step.name === 'photo') return [...presentPhoto(texts, actions), ...after]
    if (step.name === 'ready') return [...presentReady(step, { texts, actions, consenting }), ...after]
    return [...presentResult(step.result, { ...options, announce }), ...after]
  }

  function focus(): void {
    if (!dialog.open) return
    const wanted = panel.querySelector<HTMLElement>('[data-focus]') ?? panel.querySelector<HTMLElement>('h2')
    wanted?.focus({ preventScroll: true })
  }

  return {
    element: dialog,
    show: (step) => {
      stage.show(step)
      const isWork = step.name === 'sending' || step.name === 'waiting'
      const wasWork = shown === 'sending' || shown === 'waiting'
      const isChanged = !(isWork && wasWork)
      dialog.dataset.step = step.name
      shown = step.name
      if (isChanged) {
        announce('')
        panel.replaceChildren(productLine(settings), ...present(step))
      }
      if (isWork) progress?.update(step)
      if (step.name === 'done') announce(texts.doneHeading)
      urgent.textContent = step.name === 'failed' ? explain(step.failure, texts) : ''
      if (isChanged) focus()
    },
    open: () => {
      if (!dialog.open) openBehindBack()
      focus()
    },
  }
}

/** The product that is tried on. */
function productLine({ title, image }: Settings): HTMLElement {
  const thumbnail = image === null ? null : element('img', { src: image, alt: '' })
  return element('p', { class: 'product', part: 'product', hidden: title === '' && image === null }, thumbnail, title)
}

/** Where the dialog covers the page. */
const PHONE = '(max-width: 700px)'

/**
 * On a phone, Back closes the dialog and not the page of the product: while it is open, the history has one more entry. Returns the
 * function that opens it.
 */
function closeByBack(dialog: HTMLDialogElement): () => void {
  // Going back takes a moment, in which the dialog may be opened again.
  let isLeaving = false
  const goBack = () => dialog.close()
  const addEntry = () => {
    if (!history.state?.drapeTryOn) history.pushState({ ...history.state, drapeTryOn: true }, '')
    addEventListener('popstate', goBack)
  }
  const left = () => {
    isLeaving = false
    if (dialog.open) addEntry()
  }
  dialog.addEventListener('close', () => {
    // The event follows the closing: the dialog may be open again, and then has its entry.
    if (dialog.open) return
    removeEventListener('popstate', goBack)
    if (isLeaving || !history.state?.drapeTryOn) return
    isLeaving = true
    addEventListener('popstate', left, { once: true })
    history.back()
  })
  return () => {
    dialog.showModal()
    if (matchMedia(PHONE).matches && !isLeaving) addEntry()
  }
}

/** A click outside of the dialog closes it, unless the pointer was pressed inside. */
function closeFromOutside(dialog: HTMLDialogElement): void {
  let began: EventTarget | null = null
  dialog.addEventListener('pointerdown', ({ target }) => {
    began = target
  })
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog && began === dialog) dialog.close()
  })
}

function takeDrops(dialog: HTMLElement, stage: HTMLElement, choose: (file: Blob, source: Source) => void): void {
  const over = (isOver: boolean) => (event: DragEvent) => {
    event.preventDefault()
    stage.classList.toggle('over', isOver)
  }
  dialog.addEventListener('dragover', over(true))
  dialog.addEventListener('dragleave', over(false))
  dialog.addEventListener('drop', (event) => {
    over(false)(event)
    const [file] = event.dataTransfer?.files ?? []
    // A dropped file must not replace an image that is being made or shown.
    if (file && stage.classList.contains('empty')) choose(file, 'drop')
  })
}
