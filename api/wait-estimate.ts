import type { Line, Place, Waiting } from './stores/waiting.ts'
import { within } from './time-limit.ts'

export interface Wait {
  /** How many will have been started with this one, if nothing else comes in: 1 is the next. */
  readonly queuePosition: number
  /** Until it will be finished, at the pace of recent generations. */
  readonly estimatedSeconds: number
}

/** The wait of a generation; null when it does not wait any more. */
export type EstimateWait = (generationId: string) => Promise<Wait | null>

interface Situation {
  readonly lines: readonly Line[]
  /** Of one generation. */
  readonly seconds: number
  readonly slots: number
}

/** A look at all lines is good for this long, and for many times the time it took, however many ask. */
const LOOK_MS = 250
const LOOK_FACTOR = 20
/** Redis may be away; nobody waits for it longer. */
const SLOTS_MS = 200
/** Seconds of a generation before any was measured. */
const UNMEASURED_SECONDS = 3

/** While no worker is there the wait is counted as if one was about to come. */
export function createWaitEstimate({
  waiting,
  countSlots,
}: {
  waiting: Waiting
  /** Live slots of workers that take try-on jobs. */
  countSlots: () => Promise<number>
}): EstimateWait {
  const look = paced(async (): Promise<Situation> => {
    const [lines, seconds, slots] = await Promise.all([
      waiting.findLines(),
      waiting.measureSeconds(),
      within(SLOTS_MS, countSlots()).catch(() => 0),
    ])
    return { lines, seconds: seconds ?? UNMEASURED_SECONDS, slots: Math.max(1, slots) }
  })
  return async (generationId) => {
    const place = await waiting.findPlace(generationId)
    if (!place) return null
    const { lines, seconds, slots } = await look()
    const ahead = countAhead(place, lines)
    return { queuePosition: ahead + 1, estimatedSeconds: Math.max(1, Math.ceil(seconds * (ahead / slots + 1))) }
  }
}

/** Looks again only when the last answer is old, as measured by the time it took. */
function paced<T>(look: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null
  let until = 0
  return () => {
    const started = performance.now()
    if (last && started < until) return last
    const looking = look()
    last = looking
    until = Number.POSITIVE_INFINITY
    looking.then(
      () => {
        const ended = performance.now()
        until = ended + Math.max(LOOK_MS, LOOK_FACTOR * (ended - started))
      },
      () => {
        last = null
      },
    )
    return looking
  }
}

/**
 * Those that will be started before: what the queue holds, then what the relay admits before it. There the accounts take turns,
 * and what an account has in the queue or running counts as turns it had.
 */
export function countAhead({ accountId, since, queued, earlier, handed }: Place, lines: readonly Line[]): number {
  if (earlier === null) return queued
  const turn = handed + earlier + 1
  const others = lines.filter((line) => line.accountId !== accountId)
  return others.reduce((sum, line) => sum + countEarlierTurns(line, turn, since), queued + earlier)
}

/** Waiting generations of a line that have an earlier turn; in the same turn who waits longer comes first. */
function countEarlierTurns({ handed, waiting, oldest }: Line, turn: number, since: Date): number {
  const earlier = Math.min(waiting, Math.max(0, turn - 1 - handed))
  const hasSameTurn = turn > handed && waiting > earlier
  return hasSameTurn && oldest !== null && oldest < since ? earlier + 1 : earlier
}
