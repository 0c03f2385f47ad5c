import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../http/limits/time-limit.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { compileCheck } from '../shared/contract/schema.ts'
import { LEASE_SECONDS } from '../shared/generations/attempts.store.ts'
import { GenerationChangeSchema, type QueuedTryOn } from '../shared/generations/generation.ts'
import type { Generations } from '../shared/generations/generations.store.ts'
import type { EngineQueue } from '../shared/queue/engine-queues.ts'
import { type Claimed, startOutboxConsumer } from '../shared/queue/outbox-consumer.ts'
import { createPasses } from '../shared/queue/passes.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import type { Outbox } from './outbox.store.ts'
import type { TryOnQueues } from './try-on-queues.ts'

export interface Relay {
  /** Wakes the relay because new work was accepted. */
  wake(): void
  /** Handles a published change of a generation. A started generation frees a place in the queue. */
  noteGenerationChange(message: unknown): void
  /** Handles the registration of a worker. */
  noteWorker(): void
  stop(): Promise<void>
}

/**
 * Polling interval of the outbox, for work that this process is not notified of: work that another replica accepted,
 * retries that are due.
 */
const IDLE_MS = 500
const RECOVERY_MS = 1000
/** Maximum age of the cached list of live workers. */
const QUEUE_CACHE_MS = 500
/** Retry delay while another relay claims. */
const BUSY_RETRY_MS = 20
/** Age after which the relay checks whether Redis still has a dispatched job that no worker has started. */
const UNSTARTED_SECONDS = 3
/** Timeout of queue operations, after which the queue counts as unavailable. */
const QUEUE_TIMEOUT_MS = 3000
/** Each claim has a fixed cost, which is that of about 200 jobs. */
const BATCH = 1000
/** Minimum interval between demand notifications. */
const NOTIFY_INTERVAL_MS = 500

const checkChange = compileCheck(GenerationChangeSchema)

export interface RelayOptions {
  readonly outbox: Outbox
  readonly generations: Generations
  readonly queues: Pick<TryOnQueues, 'isReady' | 'findEngineQueues' | 'add' | 'removeLost'>
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Dispatches accepted work from Postgres to the queues of the engine queues and recovers lost work, with Postgres as the only
 * source. Each queue is kept as deep as its engine queue has live slots, so a job starts once each slot has ended its current
 * job and one more. Work that no live worker can run stays in Postgres. Any number of relays may run concurrently.
 */
export function createRelay(options: RelayOptions): Relay {
  const { log } = options
  const stopping = new AbortController()
  const pass = createPasses('relay', log)
  const engineQueues = createQueueCache(options.queues.findEngineQueues)
  let passes = 0
  /** Whether some engine queues, or all engine queues, have as many jobs as they can hold. */
  let full = { some: false, every: false }
  let enqueuing: Promise<unknown> = Promise.resolve()
  let notifiedAt = Number.NEGATIVE_INFINITY
  const notifyDemand = () => {
    if (performance.now() - notifiedAt < NOTIFY_INTERVAL_MS) return
    notifiedAt = performance.now()
    pass('notify demand', () => options.outbox.notifyDemand())
  }

  const claimBatches = async (): Promise<Claimed<readonly Batch[]>> => {
    full = { some: false, every: false }
    // Rotate the engine queues: work that one worker returned may go to another engine queue with the same engine.
    const { batches, outcomes, failed } = await claimInTurn(rotate(await engineQueues.find(), passes++), options)
    const isFull = (outcome: Outcome) => outcome === 'full'
    if (!failed) full = { some: outcomes.some(isFull), every: outcomes.every(isFull) }
    const againMs = failed || outcomes.includes('more') ? 0 : outcomes.includes('busy') ? BUSY_RETRY_MS : IDLE_MS
    return { items: batches.length > 0 ? [batches] : [], againMs }
  }
  const consumer = startOutboxConsumer({
    name: 'relay',
    log,
    idleMs: IDLE_MS,
    failureMs: IDLE_MS,
    // Enqueue the jobs of one pass while the next pass claims.
    concurrency: 2,
    claim: claimBatches,
    handle: (batches) => {
      // Passes run sequentially, so that the jobs of a engine queue keep their order.
      const enqueued = Promise.allSettled([enqueuing]).then(() => enqueueAll(batches, options))
      enqueuing = enqueued
      return enqueued
    },
  })
  // Deadlines are enforced even while Redis is unavailable.
  const recovering = async () => {
    let reachableSince = Number.POSITIVE_INFINITY
    while (!stopping.signal.aborted) {
      const known = await pass('recover', () => recover(options, performance.now() - reachableSince))
      if (known === null || !options.queues.isReady()) reachableSince = Number.POSITIVE_INFINITY
      else if (reachableSince === Number.POSITIVE_INFINITY) reachableSince = performance.now()
      await pass('requeue lost jobs', () => requeueLost(options))
      await sleep(RECOVERY_MS, undefined, stopping).catch(() => {})
    }
  }
  const recovered = recovering()

  return {
    wake: () => {
      notifyDemand()
      if (!full.every) consumer.wake()
    },
    noteWorker: () => {
      engineQueues.renew()
      consumer.wake()
    },
    noteGenerationChange: (message) => {
      if (full.some && freesPlace(message)) consumer.wake()
    },
    stop: async () => {
      stopping.abort()
      await Promise.all([consumer.stop(), recovered])
    },
  }
}

function freesPlace(message: unknown): boolean {
  const change = checkChange(message)
  return change.ok && change.value.status === 'PROCESSING' && change.value.progress === 0
}

function rotate<T>(list: readonly T[], by: number): T[] {
  const from = list.length === 0 ? 0 : by % list.length
  return [...list.slice(from), ...list.slice(0, from)]
}

/** Caches the live engine queues for `QUEUE_CACHE_MS`, or until `renew` is called. */
function createQueueCache(find: () => Promise<EngineQueue[]>) {
  let engineQueues: readonly EngineQueue[] = []
  let until = Number.NEGATIVE_INFINITY
  let renewals = 0
  return {
    find: async (): Promise<readonly EngineQueue[]> => {
      if (performance.now() < until) return engineQueues
      const before = renewals
      engineQueues = await within(QUEUE_TIMEOUT_MS, find())
      // Do not cache a result that was read before the renewal.
      if (renewals === before) until = performance.now() + QUEUE_CACHE_MS
      return engineQueues
    },
    renew: () => {
      renewals++
      until = Number.NEGATIVE_INFINITY
    },
  }
}

/**
 * `full`: the engine queue is full. `busy`: another relay claims. `more`: more work may be waiting. `done`: no work is left.
 */
type Outcome = 'full' | 'busy' | 'more' | 'done'

/** Claimed jobs of one engine queue. */
interface Batch {
  readonly queue: string
  readonly jobs: readonly QueuedTryOn[]
}

/** When a engine queue fails, enqueues the jobs of the engine queues before it first; the next pass reports the failure. */
async function claimInTurn(engineQueues: readonly EngineQueue[], options: RelayOptions) {
  const batches: Batch[] = []
  const outcomes: Outcome[] = []
  for (const engineQueue of engineQueues) {
    try {
      const { jobs, outcome } = await claim(options, engineQueue)
      outcomes.push(outcome)
      if (jobs.length > 0) batches.push({ queue: engineQueue.queue, jobs })
    } catch (error) {
      if (batches.length === 0) throw error
      return { batches, outcomes, failed: true }
    }
  }
  return { batches, outcomes, failed: false }
}

async function claim(
  { outbox, queues, log }: RelayOptions,
  { queue, engines, slots }: EngineQueue,
): Promise<{ jobs: readonly QueuedTryOn[]; outcome: Outcome }> {
  if (!queues.isReady()) throw new DrapeError('SERVICE_UNAVAILABLE', 'The queue is unavailable.', { retryable: true })
  const { jobs, problems, room } = await outbox.claim({ queue, engines, limit: BATCH, depth: slots })
  if (problems.length > 0) log.error({ queue, problems }, 'jobs are malformed: no queue can hold them')
  if (room === null) return { jobs, outcome: 'busy' }
  if (room > 0) return { jobs, outcome: 'done' }
  return { jobs, outcome: jobs.length + problems.length === BATCH ? 'more' : 'full' }
}

/** Throws after all batches have run if a batch could not be enqueued. */
async function enqueueAll(batches: readonly Batch[], options: RelayOptions): Promise<void> {
  const results = await Promise.allSettled(batches.map((batch) => enqueue(batch, options)))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function enqueue({ queue, jobs }: Batch, { outbox, queues, metrics }: RelayOptions): Promise<void> {
  try {
    await within(QUEUE_TIMEOUT_MS, queues.add(queue, jobs))
    metrics.dispatched.inc(jobs.length)
  } catch (error) {
    await outbox.release(jobs.map((job) => job.generationId))
    throw error
  }
}

/** `reachableMs`: how long Postgres and Redis have been reachable without interruption; negative: not now. */
async function recover({ generations, metrics }: RelayOptions, reachableMs: number): Promise<true> {
  metrics.recovered.inc({ reason: 'deadline' }, await generations.failOverdue(BATCH))
  // No worker could renew its lease meanwhile, nor while no API ran, so wait for the renewals of live workers first.
  const settled = reachableMs > (LEASE_SECONDS * 1000) / 2
  if (settled) metrics.recovered.inc({ reason: 'lease' }, await generations.recoverLost(BATCH))
  return true
}

async function requeueLost({ outbox, queues, metrics }: RelayOptions): Promise<void> {
  const unstarted = await outbox.findUnstarted(UNSTARTED_SECONDS, BATCH)
  const lost = await within(QUEUE_TIMEOUT_MS, queues.removeLost(unstarted))
  if (lost.length === 0) return
  await outbox.release(lost.map(({ generationId }) => generationId))
  metrics.recovered.inc({ reason: 'queue' }, lost.length)
}
