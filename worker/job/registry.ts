import { createEngineCards, type EngineCard } from '../../api/shared/engines/engine-cards.ts'
import type { PoolRegistry, WorkerReport } from '../../api/shared/engines/pool-registry.ts'
import type { Consumer } from '../../api/shared/queue/queue.ts'
import type { QueueName, Redis } from '../../api/shared/queue/redis.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'
import type { EngineManifest } from '../engines/engine.ts'
import type { Sickness } from '../inference/device-health.ts'

const EVERY_MS = 5000
/** Manifests change only with the inference process. */
const MANIFESTS_MS = 60_000
/** A worker that has been silent for longer no longer counts. */
const SILENT_SECONDS = 12

/**
 * Announces this worker's slots and engines while it accepts jobs: every few seconds, and on `renew`. `withdraw`
 * immediately announces that it accepts no more jobs.
 */
export function announceWorker({
  redis,
  worker,
  queues,
  engines,
  slots,
  canWork,
  findManifests,
  onArrival,
  log,
}: {
  redis: Redis
  worker: string
  queues: readonly QueueName[]
  engines: readonly string[]
  slots: number
  canWork: () => boolean
  /** The manifests of the engines that the worker offers. */
  findManifests: () => readonly EngineManifest[]
  /** Called when a worker is announced that was not announced before. */
  onArrival: () => void
  log: Log
}): { renew(): Promise<void>; withdraw(): Promise<void> } {
  const cards = createEngineCards(redis)
  let withdrawn = false
  let isAnnounced = false
  let reported: { manifests: readonly EngineManifest[]; at: number } | null = null
  const reportManifests = async () => {
    const manifests = findManifests()
    if (reported?.manifests === manifests && performance.now() - reported.at < MANIFESTS_MS) return
    await cards.report(new Map(manifests.map((manifest) => [manifest.name, cardOf(manifest)])))
    reported = { manifests, at: performance.now() }
  }
  const beat = async () => {
    if (withdrawn || !redis.isReady() || !canWork()) {
      isAnnounced = false
      return
    }
    try {
      await reportManifests()
      await redis.announce({ queues, engines, worker, slots, seconds: SILENT_SECONDS })
      if (!isAnnounced) onArrival()
      isAnnounced = true
    } catch (error) {
      log.debug({ err: error }, 'heartbeat missed')
    }
  }
  const timer = setInterval(beat, EVERY_MS)
  // Retry if the first announcement failed, for example while Redis is unavailable.
  const soon = setInterval(() => {
    if (!isAnnounced) beat()
  }, 100)
  return {
    /** Announces immediately, so that a new worker receives jobs without a delay. */
    renew: beat,
    withdraw: async () => {
      withdrawn = true
      clearInterval(timer)
      clearInterval(soon)
      if (redis.isReady()) await redis.withdraw({ queues, engines, worker, slots })
    },
  }
}

function cardOf({ version, kind, license, accepts, outfits, maxCount }: EngineManifest): EngineCard {
  const { categories, garmentTypes } = accepts
  return {
    version,
    kind,
    license: license.spdx,
    seenAt: Date.now(),
    categories: [...categories],
    garmentTypes: [...garmentTypes],
    outfits,
    maxCount,
  }
}

const LISTEN_MS = 1000
const REPORT_MS = 4000
/** ONNX Runtime error messages contain stack traces; the first line is enough. */
const MAX_MESSAGE_LENGTH = 300

/** This worker's membership in a pool: reports its state to the controller and drains on request. */
export interface Membership {
  /** Whether the worker may accept jobs: false after the order to drain, and until the latest order is known. */
  mayTake(): boolean
  leave(): Promise<void>
}

function detailsOf(sick: Sickness | null, downloadSeconds: number | null): Partial<WorkerReport> {
  return {
    ...(downloadSeconds !== null && { downloadSeconds }),
    ...(sick && { sick: { ...sick, message: sick.message.slice(0, MAX_MESSAGE_LENGTH) } }),
  }
}

/**
 * Follows the orders of the pool's controller until `leave`. The last order stays valid if Redis is unavailable or loses
 * it: a worker that has reported itself drained accepts no job until it is ordered to. While the node of a draining worker ends,
 * the controller limits the time of its jobs: they are handed back after that time, unless the controller withdraws the limit before.
 */
export function joinPool({
  registry,
  host,
  uid = '',
  facts,
  consumers,
  findSickness,
  findDownloadSeconds,
  onChange,
  handBack,
  log,
}: {
  registry: PoolRegistry
  host: string
  /** UID of the pod; empty where a worker is no pod. */
  uid?: string
  facts: Pick<WorkerReport, 'slots' | 'provider' | 'engines'>
  consumers: readonly Consumer[]
  /** Why this worker is permanently fenced; null if it is not. */
  findSickness: () => Sickness | null
  /** Seconds that the longest download of model files took; null without one. */
  findDownloadSeconds: () => number | null
  /** Called when the return value of `mayTake` changes. */
  onChange: () => void
  /** Aborts the running jobs and returns them to the queue. */
  handBack: () => void
  log: Log
}): Membership {
  let [known, left, drained] = [false, false, false]
  let fence: number | null = null
  let draining: Promise<unknown> = Promise.resolve()
  let idleSince = Date.now()
  let last = { text: '', at: 0 }
  let untilHandBack: NodeJS.Timeout | null = null

  async function listen(): Promise<void> {
    const order = await registry.readOrder(host)
    if (typeof order === 'number') follow(order)
    else if (order === 'take' && fence !== null) {
      await draining
      log.info('accepting jobs again')
      fence = null
    }
    known = true
    limitJobs(fence === null ? null : await registry.readJobLimit(host))
    await report()
  }

  function follow(request: number): void {
    if (fence === null) {
      log.info('draining')
      drained = false
      draining = Promise.all(consumers.map((consumer) => consumer.drain())).then(() => {
        drained = true
      })
    }
    fence = request
  }

  function limitJobs(ms: number | null): void {
    if (ms !== null) untilHandBack ??= setTimeout(handBack, ms)
    else {
      if (untilHandBack !== null) clearTimeout(untilHandBack)
      untilHandBack = null
    }
  }

  async function report(): Promise<void> {
    const jobs = consumers.reduce((sum, consumer) => sum + consumer.countInHand(), 0)
    if (jobs > 0) idleSince = Date.now()
    const state = fence === null ? 'taking' : drained ? 'drained' : 'draining'
    const current: WorkerReport = {
      host,
      state,
      fence,
      jobs,
      ...facts,
      idleSince: jobs > 0 ? null : idleSince,
      ...detailsOf(findSickness(), findDownloadSeconds()),
    }
    const text = JSON.stringify(current)
    if (text === last.text && performance.now() - last.at < REPORT_MS) return
    await registry.report(current, { uid, isChanged: text !== last.text })
    last = { text, at: performance.now() }
  }

  const mayTake = () => known && fence === null
  let busy = false
  const poll = async () => {
    if (busy || left) return
    busy = true
    const before = mayTake()
    await listen().catch((error) => log.debug({ err: error }, 'worker pool registry unavailable'))
    if (mayTake() !== before) onChange()
    busy = false
  }
  poll()
  const timer = setInterval(poll, LISTEN_MS)
  return {
    mayTake,
    leave: async () => {
      left = true
      clearInterval(timer)
      limitJobs(null)
      await registry.forget(host, uid).catch(() => {})
    },
  }
}
