import type { Waiting } from './stores/waiting.ts'

export interface Wait {
  /** 1 is the next to be started. */
  readonly queuePosition: number
  /** Until it will be finished, at the pace of recent generations. */
  readonly estimatedSeconds: number
}

/** The wait of a generation; null when it does not wait any more. */
export type EstimateWait = (generationId: string) => Promise<Wait | null>

/** How long the pace of the workers is believed. */
const PACE_MS = 3000
/** Before anything was ever measured. */
const UNKNOWN_SECONDS = 3

/** While no worker is there the wait is counted as if one was about to come. */
export function createWaitEstimate({
  waiting,
  countSlots,
  now = Date.now,
}: {
  waiting: Waiting
  /** Live slots of workers that take try-on jobs. */
  countSlots: () => Promise<number>
  now?: () => number
}): EstimateWait {
  let pace = { seconds: UNKNOWN_SECONDS, slots: 1, until: 0 }
  const measurePace = async () => {
    const [seconds, slots] = await Promise.all([waiting.measureSeconds(), countSlots().catch(() => 0)])
    pace = { seconds: seconds ?? UNKNOWN_SECONDS, slots: Math.max(1, slots), until: now() + PACE_MS }
  }
  return async (generationId) => {
    const ahead = await waiting.countAhead(generationId)
    if (ahead === null) return null
    if (now() >= pace.until) await measurePace()
    const { seconds, slots } = pace
    return { queuePosition: ahead + 1, estimatedSeconds: Math.max(1, Math.ceil(seconds * (ahead / slots + 1))) }
  }
}
