import { type Decision, emptyMemory, type ScalingMemory } from './decide.ts'
import type { Deployment } from './deployment.ts'
import type { PoolPod } from './drain.ts'
import type { WorkerPool } from './resource.ts'

/** A decision and when it was made. */
export interface TimedDecision {
  readonly decision: Decision
  readonly at: Date
}

/** What is remembered of a pool between two looks; all of it may be lost. */
export interface PoolMemory {
  scaling: ScalingMemory
  /** Workers there should be, as decided last. */
  desired: number
  pods: ReadonlyMap<string, PoolPod>
  /** When that was; ms since 1970. */
  lookedAt: number
  /** Marked pods that have still to go since the replicas were lowered. */
  expected: number
  /** When the replicas were lowered last, as far as is known (ms since 1970). */
  loweredAt: number
  /** Decisions that the status does not tell of yet, oldest first. */
  untold: readonly TimedDecision[]
  /** Since when objects have been written and the status does not tell of it (ms since 1970); null when it tells of all. */
  owesSince: number | null
}

/** For so long after the replicas were lowered pods may be chosen by what they were then. */
const LOWERING_SETTLES_MS = 3000

export function firstMemory(pool: WorkerPool, deployment: Deployment | undefined, now: Date): PoolMemory {
  const desired = pool.status?.desiredReplicas ?? deployment?.spec.replicas ?? 0
  // Another controller may have lowered them just before.
  return {
    scaling: memoryFrom(pool, now),
    desired,
    pods: new Map(),
    lookedAt: now.getTime(),
    expected: 0,
    loweredAt: now.getTime(),
    untold: [],
    owesSince: null,
  }
}

/** Whether the cluster may still be taking pods away because the replicas were lowered, even if they were raised since. */
export function isShrinking(deployment: Deployment | undefined, memory: PoolMemory, now: Date): boolean {
  const { metadata, status } = deployment ?? {}
  const seen = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
  return !seen || now.getTime() - memory.loweredAt < LOWERING_SETTLES_MS
}

/** What the status tells of the time before this process. */
function memoryFrom(pool: WorkerPool, now: Date): ScalingMemory {
  const changes = (pool.status?.decisions ?? []).map(({ at, from, to }) => ({ at: Date.parse(at), by: to - from }))
  return { ...emptyMemory(now), changes: changes.reverse() }
}
