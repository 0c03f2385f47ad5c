import type { PoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import type { Engine } from '../engine/resource.ts'
import type { ApplyOnce, OnReverted } from '../runtime/apply-once.ts'
import type { Client } from '../runtime/client.ts'
import { type RecordEvent, warning } from '../runtime/events.ts'
import { notLeader } from '../runtime/leader.ts'
import type { Observation } from './observe.ts'
import type { PoolPlan } from './plan.ts'
import type { PoolMemory } from './pool-memory.ts'
import type { WorkerPool } from './resource.ts'
import { BUDGETS, REPLICA_SETS, renderBudget, renderReplicaSet } from './template/replica-set.ts'
import { createInterrupt } from './workers/ending-nodes.ts'
import { annotationsFor, PODS, SICK_LABEL, SICK_VALUES } from './workers/pods.ts'
import { newRecords } from './workers/sick-workers.ts'
import { createSteps } from './workers/steps.ts'

export interface ApplyParts {
  readonly client: Pick<Client, 'patch' | 'delete'>
  readonly applyOnce: ApplyOnce
  readonly record: RecordEvent
  readonly reportReverted: OnReverted
  readonly registry: Pick<PoolRegistry, 'order' | 'limitJobs'>
  readonly now: () => Date
}

export interface Applying {
  readonly seen: Observation
  readonly plan: PoolPlan
  readonly memory: PoolMemory
  /** Whether the plan still counts: an order can wait for Redis longer than another process leads. */
  readonly isCurrent: () => boolean
}

/** Max ended pods to delete in one reconcile. */
const MAX_DELETIONS = 50

/** The result of a plan that was carried out. */
export interface Applied {
  /** Whether an object of the pool was written. */
  readonly wrote: boolean
  /** The applied replicas of the ReplicaSet; null if the ReplicaSet was left alone. */
  readonly replicas: number | null
}

/** Carries out the plan of a pool. The ReplicaSet comes last, so that its change is remembered whatever fails before. */
export function createApply(parts: ApplyParts) {
  const takeSteps = createSteps(parts)
  const interrupt = createInterrupt(parts)
  return async ({ seen, plan, memory, isCurrent }: Applying): Promise<Applied> => {
    const { pool, pods, workers, engines, interruptions } = seen
    await takeSteps({ pool, plan: plan.drain, pods, workers })
    await interrupt(pool, interruptions)
    if (!isCurrent()) throw notLeader()
    await Promise.all(
      seen.failures.obsolete
        .slice(0, MAX_DELETIONS)
        .map((name) => parts.client.delete(PODS, { namespace: pool.metadata.namespace, name })),
    )
    if (!('list' in engines)) return { wrote: false, replicas: null }
    return applyObjects(parts, { seen, plan, memory, engines: engines.list })
  }
}

async function applyObjects(
  { applyOnce, reportReverted }: ApplyParts,
  { seen, plan, memory, engines }: Omit<Applying, 'isCurrent'> & { engines: readonly Engine[] },
): Promise<Applied> {
  const { pool, replicaSet, replicas } = seen
  const { drain, outcome, hint } = plan
  // The workers that another writer added leave one after the other, so that the apply reverts nothing.
  const isRaised = memory.replicas !== null && replicas > Math.max(memory.replicas, outcome.decision.to)
  if (isRaised && replicaSet && drain.replicas !== memory.replicas) await reportReverted(REPLICA_SETS, replicaSet)
  const wroteBudget = await applyOnce(BUDGETS, renderBudget(pool), seen.disruptionBudget)
  const rendered = renderReplicaSet(pool, engines, drain.replicas, hint)
  const wroteReplicaSet = await applyOnce(REPLICA_SETS, rendered, replicaSet)
  return { wrote: wroteBudget || wroteReplicaSet, replicas: drain.replicas }
}

/** Deletes pods that wait for a node. The ReplicaSet creates them again, with the applied template. */
export async function replaceWaiting({ client }: ApplyParts, pool: WorkerPool, { waiting }: PoolPlan): Promise<void> {
  for (const name of waiting) await client.delete(PODS, { namespace: pool.metadata.namespace, name })
}

/** Labels and annotates sick workers for the scheduler and for operators, and records an event for each. */
export async function reportSick({ client, record }: ApplyParts, seen: Observation, memory: PoolMemory): Promise<void> {
  const { pool, found, sick, workers } = seen
  const { namespace } = pool.metadata
  for (const { metadata } of found) {
    const { name, labels, deletionTimestamp } = metadata
    const isSick = workers.get(name)?.sick !== undefined
    const label = isSick ? (sick.held.has(name) ? SICK_VALUES.nodeAvoided : SICK_VALUES.replaced) : undefined
    // A worker that has not reported may still be sick.
    if (deletionTimestamp !== undefined || !workers.has(name) || label === labels?.[SICK_LABEL]) continue
    await client.patch(PODS, { namespace, name }, { metadata: { labels: { [SICK_LABEL]: label ?? null } } })
  }
  for (const { name, node = 'no node', reason, message } of newRecords(memory.sickWorkers, sick.records)) {
    await client.patch(PODS, { namespace, name }, { metadata: { annotations: annotationsFor.sick(reason) } })
    await record(pool, warning('WorkerSick', `${name} on ${node} takes no more jobs: ${reason}: ${message}`))
  }
}
