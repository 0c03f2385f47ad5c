import type { Page } from '../../../api/shared/network/probes.ts'
import { readValid } from '../../definitions/custom-resource.ts'
import { type KubernetesObject, keyOf } from '../../runtime/resource.ts'
import type { Watched } from '../../runtime/watch.ts'
import { workerPools } from '../resource.ts'
import type { Demand } from '../scaling/decide.ts'
import { sumDemand } from './demand.ts'
import { type CapacityParts, createDivision, slotsFor } from './pool-capacity.ts'
import type { Sample } from './sampler.ts'

export interface DemandPageParts extends CapacityParts {
  readonly engines: Pick<Watched<KubernetesObject>, 'get' | 'list'>
  readonly sample: () => Promise<Pick<Sample, 'demand'>>
  /** Whether all pools and engines have been listed. */
  readonly isListed: () => boolean
}

/**
 * The demand of all engines and pools, for autoscalers: `engines.NAME` and `pools.NAMESPACE.NAME`, with zeros for those without jobs.
 * `desiredSlots` is the number of slots that the jobs require: one for each, or by the target of the pool's policy. 503 while the
 * demand or the pools are unknown: a missing number must not look like an idle engine.
 */
export function createDemandPage(parts: DemandPageParts): Page {
  const divide = createDivision(parts)
  return async () => {
    const { demand } = parts.isListed() ? await parts.sample() : { demand: null }
    if (demand === null) return { status: 503, body: { status: 'unknown' } }
    const engines = parts.engines.list().map(({ metadata: { name } }) => {
      const jobs = demand.get(name) ?? sumDemand([])
      return [name, present(jobs, jobs.waiting + jobs.inFlight)] as const
    })
    const shares = divide(demand)
    const pools = parts.pools.list().flatMap((found) => {
      const pool = readValid(workerPools, found)
      const share = shares.get(keyOf(found.metadata))
      if (pool === null || share === undefined) return []
      const jobs = sumDemand([...share.values()])
      const { namespace = '', name } = pool.metadata
      return [{ namespace, entry: [name, present(jobs, slotsFor(pool, jobs, parts.policies))] as const }]
    })
    const byNamespace = [...Map.groupBy(pools, ({ namespace }) => namespace)].map(
      ([namespace, some]) => [namespace, Object.fromEntries(some.map(({ entry }) => entry))] as const,
    )
    return { status: 200, body: { engines: Object.fromEntries(engines), pools: Object.fromEntries(byNamespace) } }
  }
}

function present({ waiting, inFlight }: Demand, desiredSlots: number) {
  return { waiting, running: inFlight, desiredSlots }
}
