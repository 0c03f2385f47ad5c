import type { PoolRegistry, WorkerReport } from '../../../api/shared/engines/pool-registry.ts'
import type { Redis } from '../../../api/shared/queue/redis.ts'
import type { DemandByEngine } from './demand.ts'

/** The measurements that all pools share. Each part is null if it could not be read. */
export interface Sample {
  readonly demand: DemandByEngine | null
  readonly workers: ReadonlyMap<string, WorkerReport> | null
}

export type SamplePart = 'demand' | 'workers'

/** Min interval between samples, for any number of pools. */
const MIN_INTERVAL_MS = 250
const TIMEOUT_MS = 3000

/** Samples the demand in Postgres, and the workers and photos to prepare in Redis, as `createSampler` does. */
export function createPoolSampler({
  redis,
  registry,
  readDemand,
  onFault,
}: {
  redis: Pick<Redis, 'isReady' | 'countJobs'>
  registry: PoolRegistry
  readDemand: (countPrepare: () => ReturnType<Redis['countJobs']>) => Promise<DemandByEngine>
  onFault: (part: SamplePart, error: unknown) => void
}): Sampler {
  const none = { waiting: 0, inFlight: 0 }
  return createSampler({
    // While Redis is unavailable no worker can prepare a photo.
    readDemand: () => readDemand(async () => (redis.isReady() ? redis.countJobs('prepare').catch(() => none) : none)),
    findWorkers: async () => {
      // Fail fast: the call would otherwise wait for Redis.
      if (!redis.isReady()) throw new Error('Redis is unavailable')
      await registry.forgetLost()
      return registry.findWorkers()
    },
    onFault,
  })
}

export interface Sampler {
  sample(): Promise<Sample>
  /** Invalidates the last sample. */
  renew(): void
}

/** Samples demand and workers once for all pools that ask at about the same time. Never throws. */
function createSampler({
  readDemand,
  findWorkers,
  onFault,
}: {
  readDemand: () => Promise<DemandByEngine>
  findWorkers: PoolRegistry['findWorkers']
  onFault: (part: SamplePart, error: unknown) => void
}): Sampler {
  let last: Promise<Sample> | null = null
  let lastAt = Number.NEGATIVE_INFINITY
  const attempt = async <T>(part: SamplePart, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await withTimeout(read())
    } catch (error) {
      onFault(part, error)
      return null
    }
  }
  return {
    sample: () => {
      if (last && performance.now() - lastAt < MIN_INTERVAL_MS) return last
      lastAt = performance.now()
      last = Promise.all([attempt('demand', readDemand), attempt('workers', findWorkers)]).then(
        ([demand, workers]) => ({ demand, workers }),
      )
      return last
    },
    renew: () => {
      last = null
    },
  }
}

function withTimeout<T>(reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  })
  return Promise.race([reading, late]).finally(() => clearTimeout(timer))
}
