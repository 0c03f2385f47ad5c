import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../shared/errors.ts'
import { GenerationChangeSchema, jobId, LEASE_SECONDS, type TryOnJob } from '../shared/generation.ts'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { JobQueue } from '../shared/queue.ts'
import { compileCheck } from '../shared/schema.ts'
import type { Generations } from '../shared/stores/generations.ts'
import { within } from '../time-limit.ts'
import type { Outbox } from './outbox.ts'

export interface Relay {
  /** There is work: dispatch soon. */
  nudge(): void
  /** Some process tells of a move of a generation: one that was started leaves room in the queue. */
  noteMove(message: unknown): void
  stop(): Promise<void>
}

/** Between two looks at the outbox when nobody nudges (work accepted by another replica, retries that became due). */
const IDLE_MS = 500
const RECOVERY_MS = 1000
/** Another relay is at the outbox; by then it has done. */
const BUSY_MS = 20
/** Dispatched but not started for this long: Redis is asked whether it still has the job. */
const UNSURE_SECONDS = 3
/** A queue that has not taken jobs by then counts as away. */
const QUEUE_MS = 3000
const BATCH = 500
/** While there is work it is told again so often. */
const TELL_MS = 500

const checkChange = compileCheck(GenerationChangeSchema)

export interface RelayOptions {
  readonly outbox: Outbox
  readonly generations: Generations
  readonly queue: JobQueue<TryOnJob>
  /** Live slots of workers that take try-on jobs. */
  readonly countSlots: () => Promise<number>
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Moves accepted work from Postgres to the queue and takes lost work back, from Postgres alone. The queue is kept as deep as
 * there are live slots: whoever comes first finds his work started when each slot has ended what it runs and one job more. Any
 * number of relays may run.
 */
export function createRelay(options: RelayOptions): Relay {
  const stopping = new AbortController()
  const pass = createPasses(options.log)
  const slots = createSlotCount(options.countSlots)
  const bell = createBell()
  let isFull = false
  let handing = Promise.resolve()
  let toldAt = Number.NEGATIVE_INFINITY
  const tellDemand = () => {
    if (performance.now() - toldAt < TELL_MS) return
    toldAt = performance.now()
    pass('tell demand', () => options.outbox.tellDemand())
  }

  const dispatch = async (): Promise<Outcome> => {
    const { jobs, outcome } = await claim(options, await slots())
    const earlier = handing
    handing = earlier.catch(() => {}).then(() => handOver(jobs, options))
    handing.catch(() => {})
    // While there is more, one batch is handed over while the next is claimed; whoever comes then hears of its failure.
    await (outcome === 'more' ? earlier : handing)
    return outcome
  }
  // Two loops: deadlines and leases are looked after also while Redis is away.
  const dispatching = async () => {
    while (!stopping.signal.aborted) {
      bell.hush()
      isFull = false
      const outcome = await pass('dispatch', dispatch)
      isFull = outcome === 'full'
      if (outcome === null) await sleep(IDLE_MS, undefined, stopping).catch(() => {})
      else if (outcome !== 'more') await bell.rung(outcome === 'busy' ? BUSY_MS : IDLE_MS)
    }
    await handing.catch(() => {})
  }
  const recovering = async () => {
    let reachableSince = Number.NEGATIVE_INFINITY
    while (!stopping.signal.aborted) {
      const known = await pass('recover', () => recover(options, performance.now() - reachableSince))
      if (known === null) reachableSince = Number.POSITIVE_INFINITY
      else if (reachableSince === Number.POSITIVE_INFINITY) reachableSince = performance.now()
      await pass('find forgotten', () => findForgotten(options))
      await sleep(RECOVERY_MS, undefined, stopping).catch(() => {})
    }
  }
  const running = Promise.all([dispatching(), recovering()])

  return {
    nudge: () => {
      tellDemand()
      if (!isFull) bell.ring()
    },
    noteMove: (message) => {
      if (isFull && isStart(message)) bell.ring()
    },
    stop: async () => {
      stopping.abort()
      bell.ring()
      await running
    },
  }
}

/** What somebody waits for, should it be rung, also when that was before. */
function createBell() {
  let isRung = false
  let wake = () => {}
  return {
    ring: () => {
      isRung = true
      wake()
    },
    hush: () => {
      isRung = false
    },
    /** Resolves when it is rung, at the latest after `ms`. */
    rung: (ms: number) =>
      new Promise<void>((resolve) => {
        if (isRung) return resolve()
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}

function isStart(message: unknown): boolean {
  const change = checkChange(message)
  return change.ok && change.value.status === 'PROCESSING' && change.value.progress === 0
}

/** Runs a piece of work and resolves to null when it failed. Only the first of several failures is worth a line. */
function createPasses(log: Log) {
  const failing = new Set<string>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      const outcome = await work()
      failing.delete(name)
      return outcome
    } catch (error) {
      log[failing.has(name) ? 'debug' : 'warn']({ err: error, pass: name }, 'relay pass failed')
      failing.add(name)
      return null
    }
  }
}

/** The number is asked for now and then only. */
function createSlotCount(count: () => Promise<number>): () => Promise<number> {
  let slots = 0
  let until = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() < until) return slots
    slots = await within(QUEUE_MS, count())
    until = performance.now() + RECOVERY_MS
    return slots
  }
}

/** Whether the queue is full, another relay is `busy` with it, there may be `more`, or nothing is left to be done. */
type Outcome = 'full' | 'busy' | 'more' | 'done'

async function claim(
  { outbox, queue }: RelayOptions,
  slots: number,
): Promise<{ jobs: readonly TryOnJob[]; outcome: Outcome }> {
  if (!queue.isReady()) throw new DrapeError('SERVICE_UNAVAILABLE', 'The queue is not reachable.', { retryable: true })
  const { jobs, room } = await outbox.claim({ limit: BATCH, depth: Math.max(1, slots) })
  if (room === null) return { jobs, outcome: 'busy' }
  if (room > 0) return { jobs, outcome: 'done' }
  return { jobs, outcome: jobs.length === BATCH ? 'more' : 'full' }
}

async function handOver(jobs: readonly TryOnJob[], { outbox, queue, metrics }: RelayOptions): Promise<void> {
  if (jobs.length === 0) return
  try {
    const added = queue.add(jobs.map((data) => ({ id: jobId(data.generationId, data.attempt), data })))
    await within(QUEUE_MS, added)
    metrics.dispatched.inc(jobs.length)
  } catch (error) {
    await outbox.release(jobs.map((job) => job.generationId))
    throw error
  }
}

/** `knownMs`: since when Postgres has been reachable without a break. */
async function recover({ generations, metrics }: RelayOptions, knownMs: number): Promise<true> {
  metrics.recovered.inc({ reason: 'deadline' }, await generations.failOverdue(BATCH))
  // While Postgres was away no lease could be renewed: those who live have to come first.
  const settled = knownMs > (LEASE_SECONDS * 1000) / 2
  if (settled) metrics.recovered.inc({ reason: 'lease' }, await generations.recoverLost(BATCH))
  return true
}

async function findForgotten({ outbox, queue, metrics }: RelayOptions): Promise<void> {
  const unsure = await outbox.findUnstarted(UNSURE_SECONDS, BATCH)
  const names = unsure.map(({ generationId, attempt }) => jobId(generationId, attempt))
  const held = await within(QUEUE_MS, queue.findHeld(names))
  const forgotten = unsure.filter((_, i) => !held.has(names[i]))
  if (forgotten.length === 0) return
  // What is left of a job whose worker is gone would stand in the way of its next dispatch.
  await within(QUEUE_MS, queue.remove(names.filter((name) => !held.has(name))))
  await outbox.release(forgotten.map(({ generationId }) => generationId))
  metrics.recovered.inc({ reason: 'queue' }, forgotten.length)
}
