import { within } from '../../http/limits/time-limit.ts'
import { engineFacts } from '../../shared/engines/engine-catalogue.ts'
import type { KnownEngine } from './directory.ts'
import type { Line, Place, Waiting } from './waiting.store.ts'

export interface Estimate {
  /** Seconds until a worker starts the generation. */
  readonly estimatedStartSeconds: number
  /** Range that contains the start in 9 of 10 cases, in seconds. */
  readonly estimatedStartRange: { readonly min: number; readonly max: number }
  /** Seconds until the generation completes, at the pace of recent generations: of an outfit, for each of its layers. */
  readonly estimatedSeconds: number
}

export interface Wait extends Estimate {
  /** Position in the queue if no other calls arrive; 1 starts next. */
  readonly queuePosition: number
}

/** A try-on before acceptance. */
export interface Call {
  readonly accountId: string
  readonly engine: string
  readonly isBatch: boolean
  /** Number of products that the engine draws one after the other; default 1. */
  readonly layers?: number
}

export interface WaitEstimate {
  /** The wait of a generation; null when the generation no longer waits. */
  ofGeneration(generationId: string): Promise<Wait | null>
  /** The wait of a call if it is accepted now. Concurrent calls share cached data about the engine. */
  ofCall(call: Call): Promise<Estimate>
}

interface Situation {
  readonly lines: readonly Line[]
  /** Mean seconds of one generation. */
  readonly seconds: number
  /** Standard deviation of one generation. */
  readonly deviation: number
  /** Mean seconds of one layer; a generation of one product has one. */
  readonly layerSeconds: number
  /** At least 1: without a live worker, one is about to start. */
  readonly slots: number
  /** Seconds until a worker takes jobs; 0 while one is live. */
  readonly startSeconds: number
}

/** Lifetime of the cached queue data; longer when reading it took long. */
const CACHE_MS = 250
const CACHE_FACTOR = 20
/** Time limit for Redis, which may be unavailable. */
const CAPACITY_TIMEOUT_MS = 200
/** Assumed seconds of the start of a worker, before any measurement. */
const UNMEASURED_START = 60
/** 9 of 10 values of a normal distribution are within this many standard deviations. */
const DEVIATIONS = 1.645
/** Relative standard deviations of the engine's pace and of a worker's start. */
const RELATIVE_DEVIATIONS = { pace: 0.2, start: 0.2 }
/**
 * Share of the generations ahead by which the latest start is extended for later calls of other accounts that go first.
 */
const OVERTAKING_SHARE = 0.5

export function createWaitEstimate({
  waiting,
  listEngines,
}: {
  waiting: Waiting
  listEngines: () => Promise<readonly Pick<KnownEngine, 'name' | 'slots' | 'published'>[]>
}): WaitEstimate {
  const situations = new Map<string, () => Promise<Situation>>()
  const findCapacity = async (engine: string) => {
    const known = (await within(CAPACITY_TIMEOUT_MS, listEngines())).find(({ name }) => name === engine)
    const slots = known?.slots ?? 0
    return {
      slots: Math.max(1, slots),
      startSeconds: slots > 0 ? 0 : (known?.published?.startSeconds ?? UNMEASURED_START),
    }
  }
  const readSituation = async (engine: string): Promise<Situation> => {
    const [lines, measured, capacity] = await Promise.all([
      waiting.findLines(engine),
      waiting.measureSeconds(engine),
      findCapacity(engine).catch(() => ({ slots: 1, startSeconds: 0 })),
    ])
    const { secondsPerJob } = engineFacts(engine)
    const seconds = measured.mean ?? secondsPerJob
    return {
      lines,
      seconds,
      deviation: measured.deviation ?? seconds,
      layerSeconds: measured.layerMean ?? secondsPerJob,
      ...capacity,
    }
  }
  const read = (engine: string) => {
    const last = situations.get(engine) ?? cached(() => readSituation(engine))
    situations.set(engine, last)
    return last()
  }
  return {
    ofGeneration: async (generationId) => {
      const place = await waiting.findPlace(generationId)
      if (!place) return null
      const situation = await read(place.engine)
      const ahead = countAhead(place, situation.lines)
      // A generation that is in the engine queue is not running itself.
      const notRunning = place.earlier === null ? ahead + 1 : place.queued
      return {
        queuePosition: ahead + 1,
        ...estimate(situation, { ahead, running: countInLanes(situation) - notRunning, layers: place.layers }),
      }
    },
    ofCall: async (call) => {
      const situation = await read(call.engine)
      const dispatched = countInLanes(situation)
      const place = placeOf(call, { ...situation, queued: Math.max(0, dispatched - situation.slots) })
      const { queued, layers } = place
      return estimate(situation, { ahead: countAhead(place, situation.lines), running: dispatched - queued, layers })
    },
  }
}

/** Generations in the engine queues of the engine: queued or running. */
function countInLanes({ lines }: Situation): number {
  return lines.reduce((sum, { inLane }) => sum + inLane, 0)
}

/**
 * The start waits for the worker, then for the generations ahead to end on all slots. The variance is the sum of
 * independent parts: each generation, the overall pace, the start of the worker, and the end of the generation that
 * frees the slot. `scripts/bench E1 E2` compares estimate and range with real starts.
 */
function estimate(
  { seconds, deviation, layerSeconds, slots, startSeconds }: Situation,
  { ahead, running, layers }: { ahead: number; running: number; layers: number },
): Estimate {
  const busy = Math.min(slots, Math.max(0, running))
  const ends = Math.max(0, ahead + busy + 1 - slots)
  const queued = (seconds * ends) / slots
  const start = startSeconds + queued
  const variances = [
    (ends * deviation ** 2) / slots ** 2,
    (RELATIVE_DEVIATIONS.pace * queued) ** 2,
    (RELATIVE_DEVIATIONS.start * startSeconds) ** 2,
    ends > 0 ? (deviation / slots) ** 2 : 0,
  ]
  const spread = DEVIATIONS * Math.sqrt(variances.reduce((sum, variance) => sum + variance))
  return {
    estimatedStartSeconds: Math.ceil(start),
    estimatedStartRange: {
      min: Math.max(0, Math.floor(start - spread)),
      max: Math.ceil(start + spread + OVERTAKING_SHARE * queued) + 1,
    },
    estimatedSeconds: Math.max(1, Math.ceil(start + layerSeconds * layers)),
  }
}

/** Position of a new call after all waiting generations of its account. */
function placeOf(
  { accountId, engine, isBatch, layers = 1 }: Call,
  { lines, queued }: { lines: readonly Line[]; queued: number },
): Place {
  const own = lines.filter((line) => line.accountId === accountId && (isBatch || !line.isBatch))
  return {
    accountId,
    engine,
    isBatch,
    layers,
    since: new Date(),
    queued,
    earlier: own.reduce((sum, { waiting }) => sum + waiting, 0),
    turnsTaken: own.reduce((sum, { inLane }) => sum + inLane, 0),
  }
}

/** Caches the result for a time that depends on how long `read` took. */
function cached<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null
  let until = 0
  return () => {
    const started = performance.now()
    if (last && started < until) return last
    const reading = read()
    last = reading
    until = Number.POSITIVE_INFINITY
    reading.then(
      () => {
        const ended = performance.now()
        until = ended + Math.max(CACHE_MS, CACHE_FACTOR * (ended - started))
      },
      () => {
        last = null
      },
    )
    return reading
  }
}

/**
 * Generations that start before this one: the queued ones, then those that the relay admits before it. There accounts
 * take turns, and the queued and running generations of an account count as its turns.
 */
function countAhead(place: Place, lines: readonly Line[]): number {
  const { accountId, queued, earlier, turnsTaken } = place
  if (earlier === null) return queued
  const turn = turnsTaken + earlier + 1
  const others = lines.filter((line) => line.accountId !== accountId)
  return others.reduce((sum, line) => sum + countEarlierTurns(line, turn, place), queued + earlier)
}

/**
 * Waiting generations of a line with an earlier turn. Within a turn interactive work goes first, then the longest wait.
 */
function countEarlierTurns(line: Line, turn: number, { since, isBatch }: Place): number {
  const earlier = Math.min(line.waiting, Math.max(0, turn - 1 - line.turnsTaken))
  if (turn <= line.turnsTaken || line.waiting === earlier || line.oldest === null) return earlier
  const isFirst = line.isBatch === isBatch ? line.oldest < since : isBatch
  return isFirst ? earlier + 1 : earlier
}
