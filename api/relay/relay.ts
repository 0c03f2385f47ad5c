import { jobId, type TryOnJob } from '../shared/generation.ts'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { JobQueue } from '../shared/queue.ts'
import type { Generations } from '../shared/stores/generations.ts'
import type { Outbox } from './outbox.ts'

export interface Relay {
  /** There is work: dispatch soon. */
  nudge(): void
  stop(): Promise<void>
}

/** Between two looks at the outbox when nobody nudges (work accepted by another replica, retries that became due). */
const IDLE_MS = 500
const RECOVERY_MS = 1000
/** Dispatched but not started for this long: Redis is asked whether it still knows the job. */
const UNSURE_SECONDS = 3
const BATCH = 500

/**
 * Moves accepted work from Postgres to the queue and takes lost work back, from Postgres alone. The queue is kept at about
 * twice the live slots, so that the order stays ours to decide. Any number of relays may run.
 */
export function createRelay(options: {
  outbox: Outbox
  generations: Generations
  queue: JobQueue<TryOnJob>
  /** Live slots of workers that take try-on jobs. */
  countSlots: () => Promise<number>
  log: Log
  metrics: Metrics
}): Relay {
  const { log } = options
  let wake: () => void = () => {}
  let nudged = false
  let stopped = false

  const failing = new Set<string>()

  // Each pass stands alone: deadlines and leases are looked after also while Redis is away.
  const pass = async (name: string, work: () => Promise<void>) => {
    try {
      await work()
      failing.delete(name)
    } catch (error) {
      log[failing.has(name) ? 'debug' : 'warn']({ err: error, pass: name }, 'relay pass failed')
      failing.add(name)
    }
  }
  const loop = async () => {
    let recovered = 0
    while (!stopped) {
      nudged = false
      await pass('dispatch', () => dispatch(options))
      if (Date.now() - recovered >= RECOVERY_MS) {
        recovered = Date.now()
        await pass('recover', () => recover(options))
        await pass('find forgotten', () => findForgotten(options))
      }
      if (!stopped && (!nudged || failing.has('dispatch'))) await pause(IDLE_MS)
    }
  }
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const running = loop()

  return {
    nudge: () => {
      nudged = true
      wake()
    },
    stop: async () => {
      stopped = true
      wake()
      await running
    },
  }
}

type Parts = Parameters<typeof createRelay>[0]

async function dispatch({ outbox, queue, countSlots, metrics }: Parts): Promise<void> {
  const room = 2 * Math.max(1, await countSlots()) - (await queue.countWaiting())
  if (room <= 0) return
  const jobs = await outbox.claim(Math.min(room, BATCH))
  if (jobs.length === 0) return
  try {
    await queue.add(jobs.map((data) => ({ id: jobId(data.generationId, data.attempt), data })))
    metrics.dispatched.inc(jobs.length)
  } catch (error) {
    await outbox.release(jobs.map((job) => job.generationId))
    throw error
  }
}

async function recover({ generations, metrics }: Parts): Promise<void> {
  metrics.recovered.inc({ reason: 'deadline' }, await generations.failOverdue(BATCH))
  metrics.recovered.inc({ reason: 'lease' }, await generations.recoverLost(BATCH))
}

async function findForgotten({ outbox, queue, metrics }: Parts): Promise<void> {
  const unsure = await outbox.findUnstarted(UNSURE_SECONDS, BATCH)
  const known = await queue.known(unsure.map(({ generationId, attempt }) => jobId(generationId, attempt)))
  const forgotten = unsure.filter(({ generationId, attempt }) => !known.has(jobId(generationId, attempt)))
  if (forgotten.length === 0) return
  await outbox.release(forgotten.map(({ generationId }) => generationId))
  metrics.recovered.inc({ reason: 'queue' }, forgotten.length)
}
