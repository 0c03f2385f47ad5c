import { countsFor } from '../cost-budget/counts-for.ts'
import { type CostBudget, costBudgets } from '../cost-budget/resource.ts'
import { readValid } from '../definitions/custom-resource.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { type Member, type SharedBudget, shareOf } from './budget-share.ts'
import type { Claim, SharedCap } from './decide.ts'
import type { Pod } from './pods.ts'
import type { PoolMemory } from './pool-memory.ts'
import { type WorkerPool, workerPools } from './resource.ts'
import { highestCost } from './tiers.ts'

type Objects = Pick<Watched<KubernetesObject>, 'list'>

export interface BudgetParts {
  readonly costBudgets: Objects
  readonly pools: Objects
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
}

/** All valid budgets. An invalid budget limits nothing and reports itself. */
function createReadBudgets(budgets: Objects): () => readonly CostBudget[] {
  return () =>
    budgets
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap((found) => readValid(costBudgets, found) ?? [])
}

/** Each budget with the memory of its pools, for the division of the demand. */
export function createSharedBudgets(parts: BudgetParts, memories: ReadonlyMap<string, PoolMemory>) {
  const readBudgets = createReadBudgets(parts.costBudgets)
  return (pools: readonly WorkerPool[]): SharedBudget[] => {
    const counted = pools.filter((pool) => highestCost(pool) > 0)
    return readBudgets().map((budget) => ({
      hourlyCap: budget.spec.hourlyCap,
      mode: budget.spec.mode,
      members: counted.filter((pool) => countsFor(budget, pool)).map((pool) => memberOf(pool, parts, memories)),
    }))
  }
}

/** Computes the caps of a pool's budgets from the memory of the other pools. */
export function createSharedCaps(parts: BudgetParts, memories: ReadonlyMap<string, PoolMemory>) {
  const readBudgets = createReadBudgets(parts.costBudgets)

  /** `desired` is the last decided number of workers of the pool. */
  return (pool: WorkerPool, claim: Claim, desired: number): SharedCap[] => {
    const hourlyCost = highestCost(pool)
    const budgets = hourlyCost === 0 ? [] : readBudgets().filter((budget) => countsFor(budget, pool))
    if (budgets.length === 0) return []
    const own = keyOf(pool.metadata)
    const others = parts.pools.list().flatMap((found) => {
      const other = keyOf(found.metadata) === own ? null : readValid(workerPools, found)
      return other === null || highestCost(other) === 0
        ? []
        : [{ pool: other, member: memberOf(other, parts, memories) }]
    })
    const member = { ...memberOf(pool, parts, memories), min: claim.min, wanted: claim.wanted }
    return budgets.map((budget) => {
      const sharing = others.filter((other) => countsFor(budget, other.pool)).map((other) => other.member)
      const { workers, room } = shareOf(member, sharing, budget.spec.hourlyCap)
      return {
        // Existing workers stay, even while other pools still use this pool's share.
        max: Math.min(workers, Math.max(room, desired)),
        ceiling: budget.spec.mode === 'Hard' ? workers : null,
        setBy: `costBudget ${budget.metadata.name}`,
        share: workers,
      }
    })
  }
}

function memberOf(
  pool: WorkerPool,
  { podsOf }: Pick<BudgetParts, 'podsOf'>,
  memories: ReadonlyMap<string, PoolMemory>,
): Member {
  const { metadata, spec, status } = pool
  const alive = podsOf(pool).filter((pod) => pod.metadata.deletionTimestamp === undefined).length
  const known = memories.get(keyOf(metadata))
  const isLeaving = metadata.deletionTimestamp !== undefined
  const decided = isLeaving ? 0 : (known?.promised ?? status?.desiredReplicas ?? 0)
  // A pool without a decision of this process keeps its workers.
  const claim = known?.claim ?? { min: status?.min ?? 0, wanted: decided, isFixed: false }
  return {
    key: keyOf(metadata),
    priority: claim.isFixed ? Number.POSITIVE_INFINITY : spec.priority,
    hourlyCost: highestCost(pool),
    min: isLeaving ? 0 : claim.min,
    wanted: isLeaving ? 0 : claim.wanted,
    held: Math.max(decided, alive),
  }
}
