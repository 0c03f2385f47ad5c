import type { PoolRegistry, WorkerReport } from '../../api/shared/pool-registry.ts'
import type { DemandByEngine } from './demand.ts'

/** The measurements that all pools share. Each part is null when it could not be read. */
export interface Sample {
  readonly demand: DemandByEngine | null
  readonly workers: ReadonlyMap<string, WorkerReport> | null
}

export type SamplePart = 'demand' | 'workers'

/** However many pools ask, it is looked at most once in so long. */
const FRESH_MS = 250
const PATIENCE_MS = 3000

/** Reads demand and workers together for all pools that ask at about the same time. Never throws. */
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
      if (last && performance.now() - lastAt < FRESH_MS) return last
      lastAt = performance.now()
      last = Promise.all([attempt('demand', readDemand), attempt('workers', () => registry.findWorkers())]).then(
        ([demand, workers]) => ({ demand, workers }),
      )
      return last
    },
    /** What was read before is too old now. */
    renew: () => {
      last = null
    },
  }
}

function withTimeout<T>(reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS)
  })
  return Promise.race([reading, late]).finally(() => clearTimeout(timer))
}
