import { type Decision, emptyMemory, type ScalingMemory } from './decide.ts'
import type { PoolPod } from './drain.ts'
import type { ReplicaSet } from './replica-set.ts'
import type { WorkerPool } from './resource.ts'
import { MAX_DECISIONS, type SickWorker, type WorkerStart } from './status-schema.ts'

/** A decision with its time. */
export interface TimedDecision {
  readonly decision: Decision
  readonly at: Date
}

/** State of a pool between two reconciles. The controller can lose it safely. */
export interface PoolMemory {
  /** UID of the pool. A new pool of the same name starts with an empty memory. */
  readonly uid: string | undefined
  scaling: ScalingMemory
  /** The last decided number of workers. */
  desired: number
  /** The last applied replicas of the ReplicaSet; null before the first apply of this process. */
  replicas: number | null
  pods: ReadonlyMap<string, PoolPod>
  /** Time of the last reconcile (ms since 1970). */
  reconciledAt: number
  /** Number of marked pods whose deletion is pending since the replicas were lowered. */
  expected: number
  /** Time of the last known reduction of the replicas (ms since 1970). */
  loweredAt: number
  /** Decisions that are not in the status yet, oldest first. */
  unreported: readonly TimedDecision[]
  /** Time of the first write that is not in the status yet (ms since 1970); null if all are. */
  unreportedSince: number | null
  /** Sick workers, newest first. */
  sickWorkers: readonly SickWorker[]
  /** When the notice of each ending node was first seen (ms since 1970). */
  notices: ReadonlyMap<string, number>
  /** Names of the pods that have been ready in a previous reconcile. */
  readyPods: Set<string>
  /** The last worker start with known phases. */
  lastStart: WorkerStart | undefined
  /** Time of this process's last status write (ms since 1970). */
  statusWrittenAt: number
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

/** Appends a decision to those that are not in the status yet; skips a decision that changes nothing and equals the last one. */
export function withDecision(unreported: readonly TimedDecision[], next: TimedDecision): readonly TimedDecision[] {
  const last = unreported.at(-1)?.decision
  const { direction, to, limitedBy } = next.decision
  const isSame = direction === 'None' && last?.to === to && last.limitedBy.join() === limitedBy.join()
  return isSame ? unreported : [...unreported, next].slice(-MAX_DECISIONS)
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
