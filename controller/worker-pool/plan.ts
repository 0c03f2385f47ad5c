import type { Observation } from './observe.ts'
import { isShrinking, type PoolMemory } from './pool-memory.ts'
import { outcomeFor } from './scaling/outcome.ts'
import { budgetAt } from './scaling/schedule.ts'
import { type DrainPlan, freeze } from './workers/drain.ts'
import { avoidsSickNodes, findWaitingForHint, type NodeHint } from './workers/node-hint.ts'
import { planRollout } from './workers/rollout.ts'
import { planAround } from './workers/sick-workers.ts'

/** What to do for a pool. */
export interface PoolPlan {
  readonly outcome: ReturnType<typeof outcomeFor>
  /** Which workers stay, leave and are created. */
  readonly drain: DrainPlan
  /** Number of sick workers that are held in addition to the desired ones. */
  readonly heldCount: number
  readonly hint: NodeHint
  /** Pods that wait for a node with the hint of an earlier template: to be replaced. */
  readonly waiting: readonly string[]
}

/** Decides the number of workers, and plans the steps to it. Pure. */
export function planPool(seen: Observation, memory: PoolMemory): PoolPlan {
  const outcome = outcomeFor({ ...seen, memory })
  const hint = { avoidsSick: avoidsSickNodes(seen.found, seen.sick), avoidedNodes: seen.failures.avoidedNodes }
  return {
    outcome,
    ...planWorkers(seen, memory, outcome),
    hint,
    waiting: findWaitingForHint(seen.found, seen.sick, hint),
  }
}

function planWorkers(
  { pool, pods, workers, sick, rules, pausedUntil, template, replicaSet, replicas, now }: Observation,
  memory: PoolMemory,
  { decision, bounds }: PoolPlan['outcome'],
): Pick<PoolPlan, 'drain' | 'heldCount'> {
  // The engines of a pool must be known before a worker is asked to leave.
  if (pausedUntil !== null || template === null)
    return { drain: freeze(memory.replicas ?? replicaSet?.spec.replicas ?? decision.to), heldCount: 0 }
  const { plan, heldCount } = planAround(
    { held: sick.held, costCeiling: bounds?.costCeiling ?? Number.POSITIVE_INFINITY },
    {
      pods,
      replaced: sick.replaced,
      workers,
      target: decision.to,
      replicas,
      shrinking: isShrinking(replicaSet, memory, now),
      budget: 'rules' in rules ? budgetAt(rules.rules, now) : null,
      ceiling: bounds?.ceiling ?? null,
      now: now.getTime(),
      ...pool.spec.drain,
    },
    (input) => planRollout(input, { template, limits: pool.spec.rollout }),
  )
  return { drain: plan, heldCount }
}
