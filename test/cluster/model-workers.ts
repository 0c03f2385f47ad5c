import { createPoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import { createRedis } from '../../api/shared/queue/redis.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import type { FakeNodes } from './fake-nodes.ts'

/** The workers in the pods of fake nodes: they talk to Redis as real ones do, but only seem to work. */
export interface ModelWorkers {
  /** Leaves pods of these names to real workers; `isRunning` says whether the one in a pod runs. */
  leaveOut(isReal: (pod: string) => boolean, isRunning: (pod: string) => boolean): void
  /** Gives the worker in a pod a job, unless it takes none. */
  work(pod: string): boolean
  finish(pod: string): void
  /** Has the workers in pods of these names fence themselves, as they do when their accelerator keeps failing. */
  failWhere(isFailing: (pod: string) => boolean): void
  isBusy(pod: string): boolean
  /** How long the controller lets the worker in a pod run its job after it is fenced, in ms; null for as long as its drain. */
  jobLimit(pod: string): Promise<number | null>
  /** How many times faster than a real worker they hand their jobs back. */
  hasten(factor: number): void
  takesJobs(pod: string): boolean
  /** Pods that were deleted while their worker had a job. */
  readonly interrupted: readonly string[]
  /** Those of them whose worker still had it when they ended. */
  readonly killed: readonly string[]
  /** Pods whose worker has handed its job back in the time that the controller set, and that time in ms. */
  readonly handedBack: ReadonlyMap<string, number>
  close(): Promise<void>
}

interface ModelWorker {
  readonly uid: string
  fence: number | null
  jobs: number
  idleSince: number
  /** The worker drains: it finishes its jobs and takes no others. */
  isEnding: boolean
  sickSince?: number
  handsBackAt?: number
}

const BEAT_MS = 100

export function startModelWorkers({ redisUrl, nodes }: { redisUrl: string; nodes: FakeNodes }): ModelWorkers {
  const redis = createRedis(redisUrl, { role: 'consumer', log: createLog({ process: 'test', level: 'silent' }) })
  const registry = createPoolRegistry(redis)
  const workers = new Map<string, ModelWorker>()
  let isFailing: (pod: string) => boolean = () => false
  let isReal: (pod: string) => boolean = () => false
  let isRunning: (pod: string) => boolean = () => false
  const interrupted: string[] = []
  const killed: string[] = []
  const handedBack = new Map<string, number>()
  let haste = 20
  nodes.onPod((_, name, state, uid) => {
    if (isReal(name)) return
    const worker = workers.get(name)
    const isBusy = (worker?.jobs ?? 0) > 0
    if (state === 'runs') workers.set(name, { uid, fence: null, jobs: 0, idleSince: Date.now(), isEnding: false })
    else if (state === 'ends') {
      if (worker) worker.isEnding = true
      if (isBusy) interrupted.push(name)
    } else {
      if (isBusy) killed.push(name)
      workers.delete(name)
    }
  })
  const beat = async () => {
    for (const [host, worker] of workers) {
      const word = await registry.readOrder(host)
      if (word !== null) worker.fence = word === 'take' ? null : word
      const limitMs = worker.fence === null || worker.jobs === 0 ? null : await registry.readJobLimit(host)
      worker.handsBackAt = limitMs === null ? undefined : (worker.handsBackAt ?? Date.now() + limitMs / haste)
      if (limitMs !== null && Date.now() >= (worker.handsBackAt ?? 0)) {
        Object.assign(worker, { jobs: 0, idleSince: Date.now() })
        handedBack.set(host, limitMs)
      }
      if (worker.sickSince === undefined && isFailing(host)) Object.assign(worker, { jobs: 0, sickSince: Date.now() })
      const { fence, jobs, idleSince, sickSince: since } = worker
      const sick = since !== undefined && { sick: { reason: 'DeviceError', message: 'CUDA failure 700', since } }
      const state = fence === null ? 'taking' : jobs === 0 ? 'drained' : 'draining'
      const about = { slots: 1, provider: 'cpu', engines: ['mock'], idleSince: jobs === 0 ? idleSince : null }
      await registry.report({ host, state, fence, jobs, ...about, ...sick }, { uid: worker.uid })
    }
  }
  let beating: Promise<void> | null = null
  const timer = setInterval(() => {
    // Thousands of workers take longer than the interval.
    beating ??= beat()
      .catch(() => {})
      .finally(() => {
        beating = null
      })
  }, BEAT_MS)
  return {
    leaveOut: (real, running) => {
      isReal = real
      isRunning = running
    },
    work: (pod) => {
      const worker = workers.get(pod)
      if (worker === undefined || worker.fence !== null || worker.isEnding || worker.sickSince !== undefined)
        return false
      worker.jobs = 1
      return true
    },
    finish: (pod) => {
      const worker = workers.get(pod)
      if (worker) Object.assign(worker, { jobs: 0, idleSince: Date.now() })
    },
    failWhere: (found) => {
      isFailing = found
    },
    jobLimit: registry.readJobLimit,
    hasten: (factor) => {
      haste = factor
    },
    isBusy: (pod) => (isReal(pod) ? isRunning(pod) : (workers.get(pod)?.jobs ?? 0) > 0),
    takesJobs: (pod) => workers.get(pod)?.fence === null && workers.get(pod)?.isEnding === false,
    interrupted,
    killed,
    handedBack,
    close: async () => {
      clearInterval(timer)
      await beating
      await redis.close()
    },
  }
}
