import { type Attempt, createAttempt, runAttempt } from './attempt.ts'
import type { Consent } from './consent.ts'
import type { Track } from './events.ts'
import { type Failure, failureOf } from './failure.ts'
import { type Photo, readPhoto, recallPhoto } from './photo.ts'
import type { Settings } from './settings.ts'
import type { Generation, Shop } from './shop.ts'
import { forgetWish, recallWish } from './wish.ts'

/** Current step of the shopper. */
export type Step =
  | { readonly name: 'photo' }
  | { readonly name: 'ready'; readonly photo: Photo; readonly isRemembered: boolean }
  | { readonly name: 'sending'; readonly photo: Photo; readonly part: number }
  | {
      readonly name: 'waiting'
      readonly photo: Photo
      readonly status: 'PENDING' | 'PROCESSING'
      readonly isOffline: boolean
    }
  | { readonly name: 'done'; readonly generation: Generation }
  | { readonly name: 'failed'; readonly failure: Failure; readonly photo: Photo | null }

/** Origin of a photo. */
export type Source = 'file' | 'camera' | 'drop'

export interface Fitting {
  readonly step: () => Step
  /**
   * Restores the image that was requested before the page was left, or offers the photo that was last used in this tab.
   */
  recall(): Promise<void>
  choose(file: Blob, source: Source): Promise<void>
  /** Continues with the chosen photo: for the first time, or after a failure. */
  start(): Promise<void>
  /** Asks for another photo. */
  restart(): void
  /** Shows the photo again with what is to be agreed to now. */
  review(): void
  /** Erases what the service has of the visitor, and begins anew. */
  withdraw(): Promise<void>
  stop(): void
}

export interface FittingOptions {
  readonly shop: Shop
  readonly settings: Settings
  readonly track: Track
  readonly consent: Consent
  /** Gets the response of a CAPTCHA challenge from the page; null when the page has none. */
  readonly solve: () => Promise<string | null>
  readonly onStep: (step: Step) => void
}

/** State machine of a try-on, from the photo to the result. */
export function createFitting({ shop, settings, track, consent, solve, onStep }: FittingOptions): Fitting {
  let step: Step = { name: 'photo' }
  let attempt: Attempt | null = null
  let running = new AbortController()

  const enter = (next: Step) => {
    step = next
    onStep(step)
  }

  async function run(current: Attempt, { signal }: AbortController): Promise<void> {
    const { photo } = current
    const show = (next: Step) => signal.aborted || enter(next)
    try {
      const generation = await runAttempt(current, {
        ...{ shop, settings, track, consent, solve, signal },
        onSending: (part) => show({ name: 'sending', photo, part }),
        onWaiting: (status, isOffline) => show({ name: 'waiting', photo, status, isOffline }),
      })
      show({ name: 'done', generation })
    } catch (error) {
      show({ name: 'failed', failure: failureOf(error), photo })
    }
  }

  async function start(): Promise<void> {
    if (attempt === null) return enter({ name: 'photo' })
    running.abort()
    running = new AbortController()
    await run(attempt, running)
  }

  function restart(): void {
    running.abort()
    attempt = null
    forgetWish(settings)
    enter({ name: 'photo' })
  }

  return {
    step: () => step,
    recall: async () => {
      const photo = step.name === 'photo' ? await recallPhoto() : null
      if (photo === null || step.name !== 'photo') return
      attempt = createAttempt(photo)
      attempt.jobId = recallWish(settings)
      if (attempt.jobId === null) return enter({ name: 'ready', photo, isRemembered: true })
      await start()
    },
    choose: async (file, source) => {
      track('widget:image_upload', { source, bytes: file.size, type: file.type })
      try {
        const photo = await readPhoto(file)
        attempt = createAttempt(photo)
        enter({ name: 'ready', photo, isRemembered: false })
      } catch (error) {
        track('widget:image_upload_error', { code: failureOf(error).code })
        enter({ name: 'failed', failure: failureOf(error), photo: null })
      }
    },
    start,
    restart,
    review: () => {
      consent.forget()
      if (attempt === null) return enter({ name: 'photo' })
      enter({ name: 'ready', photo: attempt.photo, isRemembered: false })
    },
    withdraw: async () => {
      running.abort()
      await consent.withdraw()
      restart()
    },
    stop: () => running.abort(),
  }
}
