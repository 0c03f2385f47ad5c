import { closeCamera, openCamera, takePhoto, watchCamera } from './camera.ts'
import type { Consent } from './consent.ts'
import type { Track } from './events.ts'
import { Failure, failureOf } from './failure.ts'
import { isSmall, type Photo, readPhoto, recallPhoto } from './photo.ts'
import { type Result, rememberResult } from './results.ts'
import { type Attempt, cancelAttempt, createAttempt, runAttempt } from './run-attempt.ts'
import { forgetGeneration, recallGeneration } from './running-generation.ts'
import type { Look, Settings } from './settings.ts'
import type { Shop } from './shop.ts'

/** Current step of the shopper. */
export type Step =
  | { readonly name: 'photo' }
  /** `video` is null while the browser asks for permission. */
  | { readonly name: 'camera'; readonly video: HTMLVideoElement | null }
  | { readonly name: 'ready'; readonly photo: Photo; readonly source: Source | 'memory' }
  | { readonly name: 'sending'; readonly photo: Photo; readonly part: number }
  | {
      readonly name: 'waiting'
      readonly photo: Photo
      readonly status: 'PENDING' | 'PROCESSING'
      readonly isOffline: boolean
    }
  | { readonly name: 'done'; readonly result: Result }
  | { readonly name: 'failed'; readonly failure: Failure; readonly photo: Photo | null }

/** Origin of a photo. */
export type Source = 'file' | 'camera' | 'drop'

export interface Steps {
  readonly step: () => Step
  /**
   * Restores the image that was requested before the page was left, or offers the photo that was last used in this tab.
   */
  recall(): Promise<void>
  choose(file: Blob, source: Source): Promise<void>
  openCamera(): Promise<void>
  /** Takes the frame that the camera shows as the photo. */
  shoot(): Promise<void>
  /** Stops the camera; no other step changes. */
  leaveCamera(): void
  /** Shows an earlier result. */
  look(result: Result): void
  /** Starts a try-on of the product together with others, with the same photo. */
  tryWith(look: Look): Promise<void>
  /** Continues with the chosen photo: for the first time, or after a failure. */
  start(): Promise<void>
  /** Ends the running try-on, and offers its photo again. */
  cancel(): Promise<void>
  /** Asks for another photo. */
  restart(): void
  /** Shows the photo again with the current policy. */
  review(): void
  /** Erases the visitor's data in the service and starts over. */
  withdraw(): Promise<void>
  /** Starts over after an erasure. */
  clear(): void
  stop(): void
}

export interface StepsOptions {
  readonly shop: Shop
  readonly settings: Settings
  readonly track: Track
  readonly consent: Consent
  /** Gets the response of a CAPTCHA challenge from the page; null when the page has none. */
  readonly solve: () => Promise<string | null>
  readonly onStep: (step: Step) => void
}

/** State machine of a try-on, from the photo to the result. */
export function createSteps({ shop, settings, track, consent, solve, onStep }: StepsOptions): Steps {
  let step: Step = { name: 'photo' }
  let attempt: Attempt | null = null
  let running = new AbortController()

  const enter = (next: Step) => {
    if (step.name === 'camera' && (next.name !== 'camera' || next.video !== step.video)) closeCamera(step.video)
    step = next
    onStep(step)
  }

  async function run(current: Attempt, { signal }: AbortController): Promise<void> {
    const { photo } = current
    const show = (next: Step) => signal.aborted || enter(next)
    try {
      const { generationId, resultImageUrl } = await runAttempt(current, {
        shop,
        settings,
        track,
        consent,
        solve,
        signal,
        onSending: (part) => show({ name: 'sending', photo, part }),
        onWaiting: (status, isOffline) => show({ name: 'waiting', photo, status, isOffline }),
      })
      if (signal.aborted) return
      const { product } = settings
      const { viewUrl, look } = current
      const title = [settings.title, look?.title].filter(Boolean).join(' + ')
      const result = { generationId, resultImageUrl: resultImageUrl ?? '', product, title, viewUrl }
      rememberResult(result)
      enter({ name: 'done', result })
    } catch (error) {
      show({ name: 'failed', failure: failureWith(photo, failureOf(error)), photo })
    }
  }

  async function start(): Promise<void> {
    if (attempt === null) return enter({ name: 'photo' })
    // A second click must not start a second upload.
    if (step.name === 'sending' || step.name === 'waiting') return
    running.abort()
    running = new AbortController()
    const { photo, imageId, jobId } = attempt
    if (imageId === null) enter({ name: 'sending', photo, part: 0 })
    else enter({ name: 'waiting', photo, status: jobId === null ? 'PENDING' : 'PROCESSING', isOffline: false })
    await run(attempt, running)
  }

  const control: StepControl = { current: () => step, enter }

  async function choose(file: Blob, source: Source): Promise<void> {
    track('widget:image_upload', { source, bytes: file.size, type: file.type })
    const photo = await readChosen(file, { ...control, track })
    if (photo === null) return
    attempt = createAttempt(photo)
    enter({ name: 'ready', photo, source })
  }

  function restart(): void {
    running.abort()
    attempt = null
    forgetGeneration(settings)
    enter({ name: 'photo' })
  }

  return {
    step: () => step,
    recall: async () => {
      const photo = step.name === 'photo' ? await recallPhoto() : null
      if (photo === null || step.name !== 'photo') return
      attempt = createAttempt(photo)
      attempt.jobId = recallGeneration(settings)
      if (attempt.jobId === null) return enter({ name: 'ready', photo, source: 'memory' })
      await start()
    },
    choose,
    openCamera: () => startCamera(control),
    shoot: async () => {
      if (step.name === 'camera' && step.video !== null) await choose(await takePhoto(step.video), 'camera')
    },
    leaveCamera: () => {
      if (step.name === 'camera') enter({ name: 'photo' })
    },
    look: (result) => {
      running.abort()
      enter({ name: 'done', result })
    },
    tryWith: async (look) => {
      if (attempt !== null) attempt = { ...createAttempt(attempt.photo, look), ...sentPhoto(attempt) }
      await start()
    },
    start,
    cancel: async () => {
      if (attempt === null) return
      const given = attempt
      running.abort()
      const { photo } = given
      attempt = { ...createAttempt(photo), ...sentPhoto(given) }
      enter({ name: 'ready', photo, source: 'file' })
      await cancelAttempt(given, { shop, settings })
    },
    restart,
    review: () => {
      consent.forget()
      if (attempt === null) return enter({ name: 'photo' })
      enter({ name: 'ready', photo: attempt.photo, source: 'file' })
    },
    withdraw: async () => {
      running.abort()
      await consent.withdraw()
      restart()
    },
    clear: restart,
    stop: () => {
      running.abort()
      if (step.name === 'camera') closeCamera(step.video)
    },
  }
}

/** The photo of an attempt as the service has it. */
function sentPhoto({ imageId, viewUrl }: Attempt): Pick<Attempt, 'imageId' | 'viewUrl'> {
  return { imageId, viewUrl }
}

interface StepControl {
  readonly current: () => Step
  readonly enter: (next: Step) => void
}

/** Null if it is no photo, or if the shopper has moved on while a large file was read. */
async function readChosen(
  file: Blob,
  { current, enter, track }: StepControl & { track: Track },
): Promise<Photo | null> {
  const before = current()
  const photo = await readPhoto(file).catch(failureOf)
  if (photo instanceof Failure) track('widget:image_upload_error', { code: photo.code })
  if (current() !== before) return null
  if (!(photo instanceof Failure)) return photo
  enter({ name: 'failed', failure: photo, photo: null })
  return null
}

async function startCamera({ current, enter }: StepControl): Promise<void> {
  const fail = (failure: Failure) => enter({ name: 'failed', failure, photo: null })
  const waiting: Step = { name: 'camera', video: null }
  enter(waiting)
  const video = await openCamera().catch(failureOf)
  // The dialog may have been closed while the browser asked for permission.
  if (current() !== waiting) return video instanceof Failure ? undefined : closeCamera(video)
  if (video instanceof Failure) return fail(video)
  const live: Step = { name: 'camera', video }
  watchCamera(video, () => current() === live && fail(new Failure('CAMERA_FAILED')))
  enter(live)
}

/** The service reports a photo that is too small as damaged, or as a photo without a person. */
function failureWith(photo: Photo, failure: Failure): Failure {
  const isAboutPhoto = failure.code === 'INVALID_IMAGE' || failure.code === 'NO_PERSON_DETECTED'
  return isAboutPhoto && isSmall(photo) ? new Failure('IMAGE_TOO_SMALL', failure) : failure
}
