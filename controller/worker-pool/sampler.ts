import type { PoolRegistry, WorkerReport } from '../../api/shared/engines/pool-registry.ts'
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

/** Samples demand and workers once for all pools that ask at about the same time. Never throws. */
export function createSampler({
  readDemand,
  registry,
  onFault,
}: {
  readDemand: () => Promise<DemandByEngine>
  registry: PoolRegistry
  onFault: (part: SamplePart, error: unknown) => void
}): { sample(): Promise<Sample>; renew(): void } {
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
      last = Promise.all([attempt('demand', readDemand), attempt('workers', () => registry.findWorkers())]).then(
        ([demand, workers]) => ({ demand, workers }),
      )
      return last
    },
    /** Invalidates the last sample. */
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
