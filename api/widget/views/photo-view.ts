import type { Source, Step } from '../fitting.ts'
import { button, element, icon } from '../markup.ts'
import type { Texts } from '../texts.ts'
import { type ConsentViewOptions, presentConsent } from './consent-view.ts'

export interface PhotoActions {
  readonly choose: (file: Blob, source: Source) => void
  readonly start: () => void
  readonly restart: () => void
  readonly review: () => void
  readonly withdraw: () => Promise<void>
}

/** Asks for a photo. */
export function presentPhoto(texts: Texts, { choose }: Pick<PhotoActions, 'choose'>): HTMLElement[] {
  const gallery = fileInput('file', choose)
  const camera = fileInput('camera', choose)
  const open = button(texts.choose, () => gallery.click(), { looks: 'primary', symbol: icon('upload') })
  open.dataset.focus = ''
  return [
    heading(texts.photoHeading),
    element('p', { class: 'soft' }, texts.photoHint),
    element(
      'div',
      { class: 'stack' },
      open,
      // Without a camera this button would open the same file dialog as the other one.
      hasCamera() ? button(texts.camera, () => camera.click(), { looks: 'secondary', symbol: icon('photo') }) : null,
    ),
    gallery,
    camera,
  ]
}

/** Shows the chosen photo, and explains its use before it is sent. */
export function presentReady(
  step: Extract<Step, { name: 'ready' }>,
  { texts, actions, consenting }: { texts: Texts; actions: PhotoActions; consenting: ConsentViewOptions },
): HTMLElement[] {
  const consent = presentConsent(consenting)
  const begin = async () => {
    if (await consent.check()) actions.start()
  }
  const start = button(texts.start, () => void begin(), { looks: 'primary', symbol: icon('hanger') })
  start.dataset.focus = ''
  return [
    heading(step.isRemembered ? texts.rememberedHeading : texts.readyHeading),
    consent.element,
    element('div', { class: 'stack' }, start, button(texts.another, actions.restart, { looks: 'secondary' })),
  ]
}

/** The heading of a step, which gets the focus if nothing else does. */
export function heading(text: string): HTMLHeadingElement {
  return element('h2', { tabindex: -1, id: 'heading' }, text)
}

function fileInput(source: Source, choose: PhotoActions['choose']): HTMLInputElement {
  const input: HTMLInputElement = element('input', {
    type: 'file',
    accept: 'image/*',
    tabindex: -1,
    'aria-hidden': 'true',
    capture: source === 'camera' ? 'user' : null,
    change: () => {
      const [file] = input.files ?? []
      if (file) choose(file, source)
    },
  })
  return input
}

function hasCamera(): boolean {
  return matchMedia('(pointer: coarse)').matches
}
