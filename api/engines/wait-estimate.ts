import { within } from '../limits/time-limit.ts'
import type { Line, Place, Waiting } from '../stores/waiting.ts'
import type { KnownEngine } from './directory.ts'

export interface Estimate {
  /** Until a worker starts it. */
  readonly estimatedStartSeconds: number
  /** Seconds between which the start lies in 9 of 10 cases. */
  readonly estimatedStartRange: { readonly min: number; readonly max: number }
  /** Until it is finished, at the pace of recent generations. */
  readonly estimatedSeconds: number
}

export interface Wait extends Estimate {
  /** How many will have been started with this one, if nothing else comes in: 1 is the next. */
  readonly queuePosition: number
}

/** A try-on that is not accepted yet. */
export interface Call {
  readonly accountId: string
  readonly engine: string
  readonly isBatch: boolean
}

export interface WaitEstimate {
  /** The wait of a generation; null when it does not wait any more. */
  ofGeneration(generationId: string): Promise<Wait | null>
  /** The wait of a call if it is accepted now. Calls within a moment share what is known of the engine. */
  ofCall(call: Call): Promise<Estimate>
}

interface Situation {
  readonly lines: readonly Line[]
  /** Mean of one generation. */
  readonly seconds: number
  /** Standard deviation of one generation. */
  readonly deviation: number
  /** At least 1: without a live worker one is about to start. */
  readonly slots: number
  /** Until a worker takes jobs; 0 while one is live. */
  readonly startSeconds: number
}

/** How long a reading of all queues is reused; longer when the reading itself took long. */
const LOOK_MS = 250
const LOOK_FACTOR = 20
/** Max wait for Redis, which may be unavailable. */
const CAPACITY_MS = 200
/** Seconds of a generation, and of the start of a worker, before any was measured. */
const UNMEASURED = { generation: 3, start: 60 }
/** 9 of 10 values of a normal distribution lie within this many standard deviations. */
const DEVIATIONS = 1.645
/** Standard deviations, as shares of their value, of the pace of the engine and of the start of a worker. */
const UNCERTAIN = { pace: 0.2, start: 0.2 }
/** The latest start allows for later calls of other accounts that go first, as a share of those ahead. */
const OVERTAKING = 0.5

export function createWaitEstimate({
  waiting,
  listEngines,
}: {
  waiting: Waiting
  listEngines: () => Promise<readonly Pick<KnownEngine, 'name' | 'slots' | 'published'>[]>
}): WaitEstimate {
  const looks = new Map<string, () => Promise<Situation>>()
  const findCapacity = async (engine: string) => {
    const known = (await within(CAPACITY_MS, listEngines())).find(({ name }) => name === engine)
    const slots = known?.slots ?? 0
    return {
      slots: Math.max(1, slots),
      startSeconds: slots > 0 ? 0 : (known?.published?.startSeconds ?? UNMEASURED.start),
    }
  }
  const lookAt = async (engine: string): Promise<Situation> => {
    const [lines, measured, capacity] = await Promise.all([
      waiting.findLines(engine),
      waiting.measureSeconds(engine),
      findCapacity(engine).catch(() => ({ slots: 1, startSeconds: 0 })),
    ])
    const seconds = measured.mean ?? UNMEASURED.generation
    return { lines, seconds, deviation: measured.deviation ?? seconds, ...capacity }
  }
  const look = (engine: string) => {
    const last = looks.get(engine) ?? paced(() => lookAt(engine))
    looks.set(engine, last)
    return last()
  }
  return {
    ofGeneration: async (generationId) => {
      const place = await waiting.findPlace(generationId)
      if (!place) return null
      const situation = await look(place.engine)
      const ahead = countAhead(place, situation.lines)
      // Of those in the lane the generation itself is none that runs.
      const notRunning = place.earlier === null ? ahead + 1 : place.queued
      return {
        queuePosition: ahead + 1,
        ...estimate(situation, { ahead, running: countHanded(situation) - notRunning }),
      }
    },
    ofCall: async (call) => {
      const situation = await look(call.engine)
      const handed = countHanded(situation)
      const place = placeOf(call, { ...situation, queued: Math.max(0, handed - situation.slots) })
      return estimate(situation, { ahead: countAhead(place, situation.lines), running: handed - place.queued })
    },
  }
}

/** Those that the lanes of the engine hold: queued or running. */
function countHanded({ lines }: Situation): number {
  return lines.reduce((sum, { inLane }) => sum + inLane, 0)
}

/**
 * The start waits for the worker, then for generations that end one after the other on all slots. Its standard deviation adds up
 * those of independent parts: of each generation, of the pace as a whole, of the start of the worker, and of the end of the
 * generation that leaves the slot. `scripts/bench E1 E2` holds estimate and range against real starts.
 */
function estimate(
  { seconds, deviation, slots, startSeconds }: Situation,
  { ahead, running }: { ahead: number; running: number },
): Estimate {
  const busy = Math.min(slots, Math.max(0, running))
  const ends = Math.max(0, ahead + busy + 1 - slots)
  const queued = (seconds * ends) / slots
  const start = startSeconds + queued
  const variances = [
    (ends * deviation ** 2) / slots ** 2,
    (UNCERTAIN.pace * queued) ** 2,
    (UNCERTAIN.start * startSeconds) ** 2,
    ends > 0 ? (deviation / slots) ** 2 : 0,
  ]
  const spread = DEVIATIONS * Math.sqrt(variances.reduce((sum, variance) => sum + variance))
  return {
    estimatedStartSeconds: Math.ceil(start),
    estimatedStartRange: {
      min: Math.max(0, Math.floor(start - spread)),
      max: Math.ceil(start + spread + OVERTAKING * queued) + 1,
    },
    estimatedSeconds: Math.max(1, Math.ceil(start + seconds)),
  }
}

/** The place that a call gets behind all that its account has in line. */
function placeOf(
  { accountId, engine, isBatch }: Call,
  { lines, queued }: { lines: readonly Line[]; queued: number },
): Place {
  const own = lines.filter((line) => line.accountId === accountId && (isBatch || !line.isBatch))
  return {
    ...{ accountId, engine, isBatch, since: new Date(), queued },
    earlier: own.reduce((sum, { waiting }) => sum + waiting, 0),
    handed: own.reduce((sum, { inLane }) => sum + inLane, 0),
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
function countAhead(place: Place, lines: readonly Line[]): number {
  const { accountId, queued, earlier, handed } = place
  if (earlier === null) return queued
  const turn = handed + earlier + 1
  const others = lines.filter((line) => line.accountId !== accountId)
  return others.reduce((sum, line) => sum + countEarlierTurns(line, turn, place), queued + earlier)
}

/** Waiting generations of a line with an earlier turn. In the same turn interactive work is first, then the longest wait. */
function countEarlierTurns(line: Line, turn: number, { since, isBatch }: Place): number {
  const earlier = Math.min(line.waiting, Math.max(0, turn - 1 - line.handed))
  if (turn <= line.handed || line.waiting === earlier || line.oldest === null) return earlier
  const isFirst = line.isBatch === isBatch ? line.oldest < since : isBatch
  return isFirst ? earlier + 1 : earlier
}
