import { setTimeout as sleep } from 'node:timers/promises'
import { type Claimed, startOutboxConsumer } from '../delivery/outbox-consumer.ts'
import { createPasses } from '../delivery/passes.ts'
import type { TryOnQueues } from '../generations/try-on-queues.ts'
import { within } from '../limits/time-limit.ts'
import { DrapeError } from '../shared/errors.ts'
import { GenerationChangeSchema, LEASE_SECONDS, type TryOnJob } from '../shared/generation.ts'
import type { Lane } from '../shared/lanes.ts'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import { compileCheck } from '../shared/schema.ts'
import type { Generations } from '../shared/stores/generations.ts'
import type { Outbox } from './outbox.ts'

export interface Relay {
  /** There is work: dispatch soon. */
  nudge(): void
  /** A process has announced a change of a generation: one that was started leaves room in the queue. */
  noteMove(message: unknown): void
  /** A worker has begun to take jobs. */
  noteWorker(): void
  stop(): Promise<void>
}

/** How often the outbox is read without a nudge (work accepted by another replica, retries that became due). */
const IDLE_MS = 500
const RECOVERY_MS = 1000
/** The live workers are looked for so often. */
const LOOK_MS = 500
/** Another relay is at the outbox; by then it has done. */
const BUSY_MS = 20
/** Dispatched but not started for this long: Redis is asked whether it still has the job. */
const UNSURE_SECONDS = 3
/** A queue that has not taken jobs by then counts as away. */
const QUEUE_MS = 3000
const BATCH = 500
/** How often the notification is repeated while there is work. */
const TELL_MS = 500

const checkChange = compileCheck(GenerationChangeSchema)

export interface RelayOptions {
  readonly outbox: Outbox
  readonly generations: Generations
  readonly queues: Pick<TryOnQueues, 'isReady' | 'findLanes' | 'add' | 'takeForgotten'>
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Moves accepted work from Postgres to the queues of the lanes and takes lost work back, from Postgres alone. A queue is kept as
 * deep as its lane has live slots: the next job in turn starts when each slot has ended what it runs and one job more. Work that
 * no live worker can run stays in Postgres. Any number of relays may run.
 */
export function createRelay(options: RelayOptions): Relay {
  const { log } = options
  const stopping = new AbortController()
  const pass = createPasses('relay', log)
  const lanes = createLaneLook(options.queues.findLanes)
  let passes = 0
  /** Whether a lane, or each one, has all the work that it may have. */
  let full = { some: false, every: false }
  let handing: Promise<unknown> = Promise.resolve()
  let toldAt = Number.NEGATIVE_INFINITY
  const notifyDemand = () => {
    if (performance.now() - toldAt < TELL_MS) return
    toldAt = performance.now()
    pass('notify demand', () => options.outbox.notifyDemand())
  }

  const claimBatches = async (): Promise<Claimed<readonly Batch[]>> => {
    full = { some: false, every: false }
    // Another lane is first each time: what one worker handed back may come to another lane with its engine.
    const { batches, outcomes, failed } = await claimInTurn(rotate(await lanes.find(), passes++), options)
    const isFull = (outcome: Outcome) => outcome === 'full'
    if (!failed) full = { some: outcomes.some(isFull), every: outcomes.every(isFull) }
    const againMs = failed || outcomes.includes('more') ? 0 : outcomes.includes('busy') ? BUSY_MS : IDLE_MS
    return { items: batches.length > 0 ? [batches] : [], againMs }
  }
  const consumer = startOutboxConsumer({
    ...{ name: 'relay', log, idleMs: IDLE_MS, failureMs: IDLE_MS },
    // The jobs of one pass are handed over while those of the next are claimed.
    concurrency: 2,
    claim: claimBatches,
    handle: (batches) => {
      // One pass after the other: the jobs of a lane keep their order.
      const handed = Promise.allSettled([handing]).then(() => handOverAll(batches, options))
      handing = handed
      return handed
    },
  })
  // Deadlines and leases are looked after also while Redis is away.
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
  const recovered = recovering()

  return {
    nudge: () => {
      notifyDemand()
      if (!full.every) consumer.wake()
    },
    noteWorker: () => {
      lanes.renew()
      consumer.wake()
    },
    noteMove: (message) => {
      if (full.some && isStart(message)) consumer.wake()
    },
    stop: async () => {
      stopping.abort()
      await Promise.all([consumer.stop(), recovered])
    },
  }
}

function isStart(message: unknown): boolean {
  const change = checkChange(message)
  return change.ok && change.value.status === 'PROCESSING' && change.value.progress === 0
}

function rotate<T>(list: readonly T[], by: number): T[] {
  const from = list.length === 0 ? 0 : by % list.length
  return [...list.slice(from), ...list.slice(0, from)]
}

/** The lanes are asked for now and then only, and after `renew`. */
function createLaneLook(find: () => Promise<Lane[]>) {
  let lanes: readonly Lane[] = []
  let until = Number.NEGATIVE_INFINITY
  let renewals = 0
  return {
    find: async (): Promise<readonly Lane[]> => {
      if (performance.now() < until) return lanes
      const before = renewals
      lanes = await within(QUEUE_MS, find())
      // What was found while it was asked for anew may be what was before.
      if (renewals === before) until = performance.now() + LOOK_MS
      return lanes
    },
    renew: () => {
      renewals++
      until = Number.NEGATIVE_INFINITY
    },
  }
}

/** Whether the lane is full, another relay is `busy` with it, there may be `more`, or nothing is left to be done. */
type Outcome = 'full' | 'busy' | 'more' | 'done'

/** Jobs of a lane. */
interface Batch {
  readonly queue: string
  readonly jobs: readonly TryOnJob[]
}

/** When a lane fails, the jobs of those before it are handed over first, and the next pass reports the failure. */
async function claimInTurn(lanes: readonly Lane[], options: RelayOptions) {
  const batches: Batch[] = []
  const outcomes: Outcome[] = []
  for (const lane of lanes) {
    try {
      const { jobs, outcome } = await claim(options, lane)
      outcomes.push(outcome)
      if (jobs.length > 0) batches.push({ queue: lane.queue, jobs })
    } catch (error) {
      if (batches.length === 0) throw error
      return { batches, outcomes, failed: true }
    }
  }
  return { batches, outcomes, failed: false }
}

async function claim(
  { outbox, queues, log }: RelayOptions,
  { queue, engines, slots }: Lane,
): Promise<{ jobs: readonly TryOnJob[]; outcome: Outcome }> {
  if (!queues.isReady()) throw new DrapeError('SERVICE_UNAVAILABLE', 'The queue is unavailable.', { retryable: true })
  const { jobs, problems, room } = await outbox.claim({ queue, engines, limit: BATCH, depth: slots })
  if (problems.length > 0) log.error({ queue, problems }, 'jobs that no worker can read')
  if (room === null) return { jobs, outcome: 'busy' }
  if (room > 0) return { jobs, outcome: 'done' }
  return { jobs, outcome: jobs.length + problems.length === BATCH ? 'more' : 'full' }
}

/** Rejects after all batches, when one of them could not be handed over. */
async function handOverAll(batches: readonly Batch[], options: RelayOptions): Promise<void> {
  const results = await Promise.allSettled(batches.map((batch) => handOver(batch, options)))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function handOver({ queue, jobs }: Batch, { outbox, queues, metrics }: RelayOptions): Promise<void> {
  try {
    await within(QUEUE_MS, queues.add(queue, jobs))
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

async function findForgotten({ outbox, queues, metrics }: RelayOptions): Promise<void> {
  const unsure = await outbox.findUnstarted(UNSURE_SECONDS, BATCH)
  const forgotten = await within(QUEUE_MS, queues.takeForgotten(unsure))
  if (forgotten.length === 0) return
  await outbox.release(forgotten.map(({ generationId }) => generationId))
  metrics.recovered.inc({ reason: 'queue' }, forgotten.length)
}
