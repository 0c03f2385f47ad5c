import { readValid } from '../../definitions/custom-resource.ts'
import type { KubernetesObject } from '../../runtime/resource.ts'
import type { Watched } from '../../runtime/watch.ts'
import type { ScalingRules } from '../../scaling-policy/resource.ts'
import { findRules, pausedAt } from '../configuration.ts'
import { startSecondsOf } from '../pool-memory.ts'
import { type WorkerPool, workerPools } from '../resource.ts'
import { highestCost } from '../scaling/cost-tiers.ts'
import { cappedBounds, type Demand, replicasFor } from '../scaling/decide.ts'
import { type DemandByEngine, PREPARE_QUEUE } from './demand.ts'
import { divideDemand, type PoolCapacity, type Share } from './divide-demand.ts'

type Objects = Pick<Watched<KubernetesObject>, 'get'>

export interface CapacityParts {
  readonly pools: Pick<Watched<KubernetesObject>, 'list'>
  readonly policies: Objects
  readonly engines: Objects
  readonly now: () => Date
}

/** Divides each sample of the demand among all pools; caches the division per sample. */
export function createDivision(parts: CapacityParts): (demand: DemandByEngine) => ReadonlyMap<string, Share> {
  const divided = new WeakMap<DemandByEngine, ReadonlyMap<string, Share>>()
  return (demand) => {
    const known = divided.get(demand)
    if (known) return known
    const pools = parts.pools.list().flatMap((found) => readValid(workerPools, found) ?? [])
    const active = pools.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const shares = divideDemand(
      active.map((pool) => capacityOf(pool, parts)),
      demand,
    )
    divided.set(demand, shares)
    return shares
  }
}

/** The queues whose jobs the workers of a pool run. */
function queuesOf({ spec: { engines, queues } }: WorkerPool): readonly string[] {
  return [...(queues.includes('try-on') ? engines : []), ...(queues.includes('prepare') ? [PREPARE_QUEUE] : [])]
}

function capacityOf(pool: WorkerPool, { policies, engines, now }: CapacityParts): PoolCapacity {
  const { metadata, spec } = pool
  const found = findRules(pool, policies)
  const rules = 'rules' in found ? found.rules : null
  const isUsable = spec.engines.every((name) => isReady(engines.get(`${metadata.namespace}/${name}`)))
  const maxWorkers = rules ? maxWorkersOf(pool, rules, now()) : 'fixed' in found ? found.fixed : 0
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    queues: queuesOf(pool),
    priority: spec.priority,
    hourlyCost: highestCost(pool) / spec.slotsPerReplica,
    maxWorkers: isUsable ? maxWorkers : 0,
    workersFor: (demand) => workersFor(demand, rules, pool),
  }
}

/** Reads the condition that the controller wrote: a full validation of each Engine per sample would be too slow. */
function isReady(engine: (KubernetesObject & { status?: unknown }) | undefined): boolean {
  const { conditions = [] } = (engine?.status ?? {}) as { conditions?: readonly { type: string; status: string }[] }
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** The slots of the workers that jobs require by the target of the pool, without its bounds. */
export function slotsFor(pool: WorkerPool, demand: Demand, policies: Objects): number {
  const found = findRules(pool, policies)
  return workersFor(demand, 'rules' in found ? found.rules : null, pool) * pool.spec.slotsPerReplica
}

function maxWorkersOf(pool: WorkerPool, rules: ScalingRules, now: Date): number {
  if (pausedAt(pool, now) !== null) return pool.status?.desiredReplicas ?? 0
  return cappedBounds({ rules, hourlyCost: highestCost(pool), now }).max
}

function workersFor(demand: Demand, rules: ScalingRules | null, { spec, status }: WorkerPool): number {
  const { slotsPerReplica } = spec
  if (rules === null) return Math.ceil((demand.waiting + demand.inFlight) / slotsPerReplica)
  const bounds = { ...rules.bounds, idleBuffer: 0 }
  const startSeconds = startSecondsOf(status?.lastStart)
  return replicasFor(demand, { rules: { ...rules, bounds }, slotsPerReplica, startSeconds })
}
