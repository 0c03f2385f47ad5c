import { countsFor } from '../cost-budget/counts-for.ts'
import { type CostBudget, costBudgets } from '../cost-budget/resource.ts'
import { createReadOnce } from '../custom-resource.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { type Member, shareOf } from './budget-share.ts'
import type { Cap, Claim } from './decide.ts'
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

/** Finds the budgets of a pool. A budget that is not valid limits nothing, and says so itself. */
export function createFindBudgets(budgets: Objects): (pool: WorkerPool) => readonly CostBudget[] {
  const read = createReadOnce(costBudgets)
  return (pool) =>
    budgets
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap((found) => read(found) ?? [])
      .filter((budget) => countsFor(budget, pool))
}

/** Computes the caps that the budgets of a pool set, by what is remembered of the other pools. */
export function createSharedCaps(
  { costBudgets, pools, podsOf }: BudgetParts,
  memories: ReadonlyMap<string, PoolMemory>,
) {
  const findBudgets = createFindBudgets(costBudgets)
  const readPool = createReadOnce(workerPools)

  /** `desired` is the number of workers that the pool has now, as decided. */
  return (pool: WorkerPool, claim: Claim, desired: number): Cap[] => {
    const hourlyCost = highestCost(pool)
    const budgets = hourlyCost === 0 ? [] : findBudgets(pool)
    if (budgets.length === 0) return []
    const own = keyOf(pool.metadata)
    const others = pools.list().flatMap((found) => {
      const other = keyOf(found.metadata) === own ? null : readPool(found)
      return other === null || highestCost(other) === 0 ? [] : [{ pool: other, member: memberOf(other) }]
    })
    const member = { ...memberOf(pool), min: claim.min, wanted: claim.wanted }
    return budgets.map((budget) => {
      const sharing = others.filter((other) => countsFor(budget, other.pool)).map((other) => other.member)
      const { workers, room } = shareOf(member, sharing, budget.spec.hourlyCap)
      return {
        // Workers there are stay, even while others still hold what is theirs.
        max: Math.min(workers, Math.max(room, desired)),
        ceiling: budget.spec.mode === 'Hard' ? workers : null,
        setBy: `costBudget ${budget.metadata.name}`,
      }
    })
  }

  function memberOf(pool: WorkerPool): Member {
    const { metadata, spec, status } = pool
    const alive = podsOf(pool).filter((pod) => pod.metadata.deletionTimestamp === undefined).length
    const known = memories.get(keyOf(metadata))
    const isLeaving = metadata.deletionTimestamp !== undefined
    const decided = isLeaving ? 0 : (known?.promised ?? status?.desiredReplicas ?? 0)
    // A pool that this process has not looked at yet keeps what it has.
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
}
