import type { Log } from '../api/shared/log.ts'
import type { PoolRegistry, WorkerReport } from '../api/shared/pool-registry.ts'
import type { Consumer } from '../api/shared/queue.ts'
import type { QueueName, Redis } from '../api/shared/redis.ts'

const EVERY_MS = 5000
/** A worker that has been silent for longer is not counted any more. */
const SILENT_SECONDS = 12

/** Announces this worker's slots and engines for as long as it can take jobs. `withdraw` says at once that it takes none any more. */
export function announceWorker({
  redis,
  worker,
  queues,
  engines,
  slots,
  canWork,
  log,
}: {
  redis: Redis
  worker: string
  queues: readonly QueueName[]
  engines: readonly string[]
  slots: number
  canWork: () => boolean
  log: Log
}): { withdraw(): Promise<void> } {
  let withdrawn = false
  const beat = async () => {
    if (withdrawn || !redis.isReady() || !canWork()) return
    try {
      await redis.announce({ queues, engines, worker, slots, seconds: SILENT_SECONDS })
    } catch (error) {
      log.debug({ err: error }, 'heartbeat missed')
    }
  }
  const timer = setInterval(beat, EVERY_MS)
  // The first one comes as soon as there is something to announce, so that a fresh worker gets work at once.
  const soon = setInterval(async () => {
    if (!redis.isReady() || !canWork()) return
    clearInterval(soon)
    await beat()
  }, 50)
  return {
    withdraw: async () => {
      withdrawn = true
      clearInterval(timer)
      clearInterval(soon)
      if (redis.isReady()) await redis.withdraw({ queues, engines, worker, slots })
    },
  }
}

const LISTEN_MS = 1000
const REPORT_MS = 4000

/** This worker's part in a pool: it says what it does, and drains when it is told to. */
export interface Membership {
  /** False from the moment it is told to drain, and until it knows what it was told last. */
  mayTake(): boolean
  leave(): Promise<void>
}

/**
 * Follows what the pool's controller says until `leave`. What it was told last holds on when Redis is away or has forgotten it:
 * a worker that has said that it is drained takes no job before it is told so.
 */
export function joinPool({
  registry,
  host,
  slots,
  consumers,
  log,
}: {
  registry: PoolRegistry
  host: string
  slots: number
  consumers: readonly Consumer[]
  log: Log
}): Membership {
  let [known, left] = [false, false]
  let fence: number | null = null
  let drained = false
  let draining: Promise<unknown> = Promise.resolve()
  let idleSince = Date.now()
  let last = { text: '', at: 0 }

  async function listen(): Promise<void> {
    const word = await registry.readWord(host)
    if (typeof word === 'number') follow(word)
    else if (word === 'take' && fence !== null) {
      await draining
      log.info('takes jobs again')
      fence = null
    }
    known = true
    await report()
  }

  function follow(request: number): void {
    if (fence === null) {
      log.info('drains')
      drained = false
      draining = Promise.all(consumers.map((consumer) => consumer.drain())).then(() => {
        drained = true
      })
    }
    fence = request
  }

  async function report(): Promise<void> {
    const jobs = consumers.reduce((sum, consumer) => sum + consumer.countInHand(), 0)
    if (jobs > 0) idleSince = Date.now()
    const state = fence === null ? 'taking' : drained ? 'drained' : 'draining'
    const said: WorkerReport = { host, state, fence, jobs, slots, idleSince: jobs > 0 ? null : idleSince }
    const text = JSON.stringify(said)
    if (text === last.text && performance.now() - last.at < REPORT_MS) return
    await registry.report(said)
    last = { text, at: performance.now() }
  }

  let busy = false
  const timer = setInterval(async () => {
    if (busy || left) return
    busy = true
    await listen().catch((error) => log.debug({ err: error }, 'the pool was not reached'))
    busy = false
  }, LISTEN_MS)
  return {
    mayTake: () => known && fence === null,
    leave: async () => {
      left = true
      clearInterval(timer)
      await registry.forget(host).catch(() => {})
    },
  }
}
