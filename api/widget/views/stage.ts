import type { Step } from '../fitting.ts'
import { element, icon } from '../markup.ts'
import { drawPicture, type Photo } from '../photo.ts'
import type { Settings } from '../settings.ts'
import type { Shop } from '../shop.ts'
import { fill, type Texts } from '../texts.ts'

export interface StageOptions {
  readonly texts: Texts
  readonly settings: Settings
  readonly shop: Shop
}

/** The half of the dialog that shows an image. */
export interface Stage {
  readonly element: HTMLElement
  show(step: Step): void
}

export function createStage(options: StageOptions): Stage {
  const stage = element('div', { class: 'stage', part: 'picture' })
  let shown: unknown = null

  return {
    element: stage,
    show: (step) => {
      stage.classList.toggle('empty', step.name === 'photo')
      stage.classList.toggle('working', step.name === 'sending' || step.name === 'waiting')
      // Do not redraw the same image: it would flicker.
      const subject = subjectOf(step)
      if (subject === shown) return
      shown = subject
      stage.replaceChildren(contentOf(step, options))
    },
  }
}

function subjectOf(step: Step): unknown {
  if (step.name === 'done') return step.generation
  return step.name === 'photo' ? step.name : step.photo
}

function contentOf(step: Step, options: StageOptions): HTMLElement {
  if (step.name === 'done') return resultOf(step.generation.resultImageUrl ?? '', options)
  const photo = step.name === 'photo' ? null : step.photo
  if (photo !== null) return photoOf(photo, options)
  // Shows how to frame the photo.
  return element('div', { class: 'figure guide' }, icon('person'), element('p', { class: 'small' }, options.texts.drop))
}

function photoOf({ picture }: Photo, { texts }: StageOptions): HTMLElement {
  if (picture !== null) return drawPicture(picture, texts.previewAlt)
  return element('div', { class: 'figure' }, icon('photo'), element('p', {}, texts.noPreview))
}

function resultOf(url: string, { texts, settings, shop }: StageOptions): HTMLElement {
  const alt = settings.title === '' ? texts.resultAltPlain : fill(texts.resultAlt, { product: settings.title })
  const addresses = settings.onlyProxy ? [shop.downloadUrl(url)] : [url, shop.downloadUrl(url)]
  const picture = element('img', { alt, src: addresses[0] })
  let tried = 0
  // A policy of the page may forbid the service's origin, but rarely the shop's own.
  picture.addEventListener('error', () => {
    const next = addresses[++tried]
    if (next === undefined) picture.replaceWith(element('p', { class: 'figure' }, texts.pictureGone))
    else picture.src = next
  })
  return picture
}
