import { remedyFor } from '../failure.ts'
import { element, icon } from '../markup.ts'
import { drawBitmap, type Photo } from '../photo.ts'
import type { Settings } from '../settings.ts'
import type { Shop } from '../shop.ts'
import type { Step } from '../steps.ts'
import type { Texts } from '../texts.ts'
import { nameOf } from './earlier-view.ts'
import { presentLook } from './look-view.ts'
import { resultImage, waysTo } from './result-image.ts'

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
  if (step.name === 'done') return step.result.generationId
  if (step.name === 'camera') return step.video ?? step.name
  return step.name === 'photo' ? step.name : photoIn(step)
}

/** None once a photo that the browser cannot show is refused. */
function photoIn(step: Exclude<Step, { name: 'done' | 'camera' | 'photo' }>): Photo | null {
  const isRefused = step.name === 'failed' && remedyFor(step.failure) === 'photo'
  return isRefused && step.photo?.bitmap === null ? null : step.photo
}

function contentOf(step: Step, options: StageOptions): HTMLElement {
  const { texts, shop, settings } = options
  if (step.name === 'done') {
    const alt = nameOf(step.result, texts)
    const image = resultImage(step.result, { alt, texts, shop, onlyProxy: settings.onlyProxy })
    const { viewUrl } = step.result
    const ways = viewUrl ? waysTo(viewUrl, { shop, onlyProxy: settings.onlyProxy }) : []
    return presentLook(image, ways, texts)
  }
  if (step.name === 'camera') {
    return step.video ?? element('div', { class: 'figure' }, icon('photo'), element('p', {}, texts.cameraWaiting))
  }
  const photo = step.name === 'photo' ? null : photoIn(step)
  if (photo !== null) return photoOf(photo, options)
  // Shows how to frame the photo.
  return element('div', { class: 'figure guide' }, icon('person'), element('p', { class: 'small' }, texts.drop))
}

function photoOf({ bitmap }: Photo, { texts }: StageOptions): HTMLElement {
  if (bitmap !== null) return drawBitmap(bitmap, texts.previewAlt)
  return element('div', { class: 'figure' }, icon('photo'), element('p', {}, texts.noPreview))
}
