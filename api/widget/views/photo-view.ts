import { hasLiveCamera, isCameraPresent } from '../camera.ts'
import { button, element, icon } from '../markup.ts'
import type { Source, Step } from '../steps.ts'
import type { Texts } from '../texts.ts'
import { type ConsentViewOptions, presentConsent } from './consent-view.ts'

export interface PhotoActions {
  readonly choose: (file: Blob, source: Source) => void
  readonly openCamera: () => void
  readonly shoot: () => Promise<void>
  readonly leaveCamera: () => void
  readonly start: () => void
  readonly cancel: () => void
  readonly restart: () => void
  readonly review: () => void
  readonly withdraw: () => Promise<void>
}

type PickActions = Pick<PhotoActions, 'choose' | 'openCamera'>

/** Asks for a photo. */
export function presentPhoto(texts: Texts, actions: PickActions): HTMLElement[] {
  const camera = cameraButton(texts, actions)
  return [
    heading(texts.photoHeading),
    element('p', { class: 'soft' }, texts.photoHint),
    element('div', { class: 'stack' }, ...filePicker(texts, actions), ...camera),
  ]
}

/** The button that asks for a file, and its field. */
export function filePicker(texts: Texts, { choose }: Pick<PhotoActions, 'choose'>): HTMLElement[] {
  const gallery = fileInput('file', choose)
  const open = button(texts.choose, () => gallery.click(), { looks: 'primary', symbol: icon('upload') })
  open.dataset.focus = ''
  return [open, gallery]
}

/** A button for devices with a camera: live in the dialog, else by the program of the system. */
function cameraButton(texts: Texts, { choose, openCamera }: PickActions): HTMLElement[] {
  const isPhone = matchMedia('(pointer: coarse)').matches
  const system = fileInput('camera', choose)
  const take = hasLiveCamera() ? openCamera : () => system.click()
  const open = button(texts.camera, take, { looks: 'secondary', symbol: icon('photo') })
  open.hidden = !isPhone
  if (!isPhone) {
    void isCameraPresent().then((isPresent) => {
      open.hidden = !isPresent
    })
  }
  return [open, system]
}

/** Where the live camera does not work, phones still have a program for it. */
export function systemCamera(texts: Texts, { choose }: Pick<PhotoActions, 'choose'>): HTMLElement[] {
  if (!matchMedia('(pointer: coarse)').matches) return []
  const system = fileInput('camera', choose)
  return [button(texts.camera, () => system.click(), { looks: 'secondary', symbol: icon('photo') }), system]
}

/** The shutter, next to the image of the camera. */
export function presentCamera(
  { video }: Extract<Step, { name: 'camera' }>,
  { texts, actions }: { texts: Texts; actions: PhotoActions },
): HTMLElement[] {
  const shoot = async () => {
    shutter.disabled = true
    await actions.shoot().catch(() => {
      shutter.disabled = false
    })
  }
  const shutter = button(texts.shoot, () => void shoot(), { looks: 'primary', symbol: icon('photo') })
  const back = button(texts.back, actions.leaveCamera, { looks: 'secondary' })
  const isWaiting = video === null
  shutter.disabled = isWaiting
  ;(isWaiting ? back : shutter).dataset.focus = ''
  return [
    heading(texts.cameraHeading),
    element('p', { class: 'soft' }, isWaiting ? texts.cameraWaiting : texts.cameraHint),
    element('div', { class: 'stack' }, shutter, back),
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
  const retake = button(texts.retake, actions.openCamera, { looks: 'secondary', symbol: icon('photo') })
  return [
    heading(step.source === 'memory' ? texts.rememberedHeading : texts.readyHeading),
    consent.element,
    element(
      'div',
      { class: 'stack' },
      start,
      step.source === 'camera' && hasLiveCamera() ? retake : null,
      button(texts.another, actions.restart, { looks: 'secondary' }),
    ),
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
