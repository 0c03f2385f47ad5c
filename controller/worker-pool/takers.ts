import type { CostBudget } from '../cost-budget/resource.ts'
import { createReadOnce } from '../custom-resource.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { ScalingRules } from '../scaling-policy/resource.ts'
import { affordable } from './budget-share.ts'
import { findRules, pausedAt } from './configuration.ts'
import { createFindBudgets } from './cost-budgets.ts'
import type { Demand } from './decide.ts'
import type { DemandByEngine } from './demand.ts'
import { divideDemand, PREPARE_LANE, type Share, type Taker } from './divide.ts'
import { type WorkerPool, workerPools } from './resource.ts'
import { boundsAt } from './schedule.ts'
import { highestCost } from './tiers.ts'

type Objects = Pick<Watched<KubernetesObject>, 'get'>

export interface TakerParts {
  readonly pools: Pick<Watched<KubernetesObject>, 'list'>
  readonly policies: Objects
  readonly costBudgets: Pick<Watched<KubernetesObject>, 'list'>
  readonly engines: Objects
  readonly now: () => Date
}

/** Divides each sample of the demand between all pools; the division of a sample is computed once. */
export function createDivision(parts: TakerParts): (demand: DemandByEngine) => ReadonlyMap<string, Share> {
  const divided = new WeakMap<DemandByEngine, ReadonlyMap<string, Share>>()
  const readOnce = createReadOnce(workerPools)
  const findBudgets = createFindBudgets(parts.costBudgets)
  return (demand) => {
    const known = divided.get(demand)
    if (known) return known
    const pools = parts.pools
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap((found) => readOnce(found) ?? [])
    const shares = divideDemand(
      pools.map((pool) => takerOf(pool, findBudgets(pool), parts)),
      demand,
    )
    divided.set(demand, shares)
    return shares
  }
}

/** The lanes whose jobs the workers of a pool run. */
export function lanesOf({ spec: { engines, queues } }: WorkerPool): readonly string[] {
  return [...(queues.includes('try-on') ? engines : []), ...(queues.includes('prepare') ? [PREPARE_LANE] : [])]
}

function takerOf(pool: WorkerPool, budgets: readonly CostBudget[], { policies, engines, now }: TakerParts): Taker {
  const { metadata, spec } = pool
  const found = findRules(pool, policies)
  const rules = 'rules' in found ? found.rules : null
  const at = now()
  const isUsable = spec.engines.every((name) => isReady(engines.get(`${metadata.namespace}/${name}`)))
  const replicas = rules ? maxReplicas(pool, rules, budgets, at) : 'fixed' in found ? found.fixed : 0
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    lanes: lanesOf(pool),
    priority: spec.priority,
    hourlyCost: highestCost(pool) / spec.slotsPerReplica,
    maxSlots: isUsable ? replicas * spec.slotsPerReplica : 0,
    jobsPerSlot: (demand) => jobsPerSlot(rules, demand),
  }
}

/** Reads the condition that the controller wrote; a full validation of each Engine for each sample would cost too much. */
function isReady(engine: (KubernetesObject & { status?: unknown }) | undefined): boolean {
  const { conditions = [] } = (engine?.status ?? {}) as { conditions?: readonly { type: string; status: string }[] }
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function maxReplicas(pool: WorkerPool, rules: ScalingRules, budgets: readonly CostBudget[], now: Date): number {
  if (pausedAt(pool, now) !== null) return pool.status?.desiredReplicas ?? 0
  const { max } = boundsAt(rules, now)
  const hourlyCost = highestCost(pool)
  if (hourlyCost === 0) return max
  const caps = [...(rules.cost ? [rules.cost] : []), ...budgets.map(({ spec }) => spec)]
  return Math.min(max, ...caps.map(({ hourlyCap }) => affordable(hourlyCap, { hourlyCost })))
}

function jobsPerSlot(rules: ScalingRules | null, { oldestWaitSeconds, secondsPerJob }: Demand): number {
  const { backlogPerSlot, drainWithinSeconds, oldestWaitSeconds: aim } = rules?.target ?? {}
  if (backlogPerSlot !== undefined) return backlogPerSlot
  const seconds = drainWithinSeconds ?? (aim === undefined ? secondsPerJob : Math.max(1, aim - oldestWaitSeconds))
  return Math.max(seconds / Math.max(secondsPerJob, 0.001), 0.001)
}
