import type { WorkerPool } from './resource.ts'
import { type Decision, emptyMemory, type ScalingMemory } from './scaling/decide.ts'
import type { SickWorker, WorkerStart } from './status/status-schema.ts'
import type { ReplicaSet } from './template/replica-set.ts'
import type { PoolPod } from './workers/drain.ts'
import type { FailureMemory } from './workers/failing-workers.ts'

/** A decision with its time. */
export interface TimedDecision {
  readonly decision: Decision
  readonly at: Date
}

/** State of a pool between two reconciles. The controller can lose it safely. Times in ms since 1970. */
export interface PoolMemory {
  /** UID of the pool. A new pool of the same name starts with an empty memory. */
  readonly uid: string | undefined
  readonly scaling: ScalingMemory
  /** The last decided number of workers. */
  readonly desired: number
  /** The last applied replicas of the ReplicaSet; null before the first apply of this process. */
  readonly replicas: number | null
  readonly pods: ReadonlyMap<string, PoolPod>
  /** Time of the last reconcile. */
  readonly reconciledAt: number
  /** Number of marked pods whose deletion is pending since the replicas were lowered. */
  readonly expected: number
  /** Time of the last known reduction of the replicas. */
  readonly loweredAt: number
  /** Decisions that are not in the status yet, oldest first. */
  readonly unreported: readonly TimedDecision[]
  /** Time of the first write that is not in the status yet; null if all are. */
  readonly unreportedSince: number | null
  /** Failed pods; null before the first reconcile of this process. */
  readonly failures: FailureMemory | null
  /** Sick workers, newest first. */
  readonly sickWorkers: readonly SickWorker[]
  /** When the notice of each ending node was first seen. */
  readonly notices: ReadonlyMap<string, number>
  /** Names of the pods that have been ready in a previous reconcile. */
  readonly readyPods: ReadonlySet<string>
  /** The last worker start with known phases. */
  readonly lastStart: WorkerStart | undefined
  /** Time of this process's last status write. */
  readonly statusWrittenAt: number
}

/** After the replicas are lowered, pods can be selected by the state at that time for this long. */
const LOWERING_SETTLES_MS = 3000

export function firstMemory(pool: WorkerPool, replicaSet: ReplicaSet | undefined, now: Date): PoolMemory {
  const isOwn = replicaSet?.metadata.ownerReferences?.some(({ uid }) => uid === pool.metadata.uid) ?? false
  const desired = pool.status?.desiredReplicas ?? (isOwn ? replicaSet?.spec.replicas : 0) ?? 0
  // Another controller may have lowered the replicas just before.
  return {
    uid: pool.metadata.uid,
    scaling: memoryFrom(pool, now),
    desired,
    replicas: null,
    pods: new Map(),
    reconciledAt: now.getTime(),
    expected: 0,
    loweredAt: now.getTime(),
    unreported: [],
    unreportedSince: null,
    failures: null,
    sickWorkers: pool.status?.sickWorkers ?? [],
    notices: new Map(),
    readyPods: new Set(),
    lastStart: pool.status?.lastStart,
    statusWrittenAt: Number.NEGATIVE_INFINITY,
  }
}

/** Measured seconds from the creation of a worker until it accepts jobs; 0 before the first measurement. */
export function startSecondsOf(start: WorkerStart | undefined): number {
  if (start === undefined) return 0
  const { schedulingSeconds, initializationSeconds, imageSeconds, warmupSeconds } = start
  return schedulingSeconds + initializationSeconds + imageSeconds + warmupSeconds
}

/** Whether the cluster may still be deleting pods because the replicas were lowered, even if they were raised since. */
export function isShrinking(replicaSet: ReplicaSet | undefined, memory: PoolMemory, now: Date): boolean {
  const { metadata, status } = replicaSet ?? {}
  const seen = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
  return !seen || now.getTime() - memory.loweredAt < LOWERING_SETTLES_MS
}

/** Restores the memory from the status. */
function memoryFrom(pool: WorkerPool, now: Date): ScalingMemory {
  const changes = (pool.status?.decisions ?? []).map(({ at, from, to }) => ({ at: Date.parse(at), by: to - from }))
  return { ...emptyMemory(now), changes: changes.reverse() }
}
