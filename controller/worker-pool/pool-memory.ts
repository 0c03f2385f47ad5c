import type { Applied } from './apply.ts'
import type { Changes } from './changes.ts'
import { type Decision, emptyMemory, type ScalingMemory } from './decide.ts'
import type { DrainPlan, PoolPod } from './drain.ts'
import type { FailureMemory } from './failing-workers.ts'
import type { Observation } from './observe.ts'
import type { PoolPlan } from './plan.ts'
import type { ReplicaSet } from './replica-set.ts'
import type { WorkerPool } from './resource.ts'
import { MAX_DECISIONS, type SickWorker, type WorkerStart } from './status-schema.ts'

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

/** The memory before a plan is carried out: the pods of this pass do not have the plan's marks yet, and the cluster can act on them. */
export function withPlan(
  memory: PoolMemory,
  seen: Observation,
  { removals, starts }: Changes,
  plan: PoolPlan,
): PoolMemory {
  return {
    ...memory,
    expected: removals.expected,
    readyPods: starts.readyPods,
    lastStart: starts.last,
    pods: podsAfter(seen, plan.drain),
    notices: seen.interruptions.seenAt,
    failures: seen.failures.memory,
  }
}

/** The memory after a plan was carried out, or as far as the API server allowed. */
export function withApplied(
  memory: PoolMemory,
  { replicas: before, now }: Pick<Observation, 'replicas' | 'now'>,
  { outcome }: PoolPlan,
  { wrote, replicas }: Applied,
): PoolMemory {
  const { decision } = outcome
  return {
    ...memory,
    scaling: outcome.memory,
    desired: decision.to,
    reconciledAt: now.getTime(),
    unreported: withDecision(memory.unreported, { decision, at: now }),
    unreportedSince: memory.unreportedSince ?? (wrote ? now.getTime() : null),
    ...(replicas !== null && { replicas, ...afterReplicas(memory, before, replicas, now) }),
  }
}

function afterReplicas({ expected, loweredAt }: PoolMemory, before: number, after: number, now: Date) {
  if (after < before) return { expected: expected + before - after, loweredAt: now.getTime() }
  return { expected: after > before ? 0 : expected, loweredAt }
}

/** The remaining pods as they will be after the plan is carried out. */
function podsAfter({ pods, interruptions, now }: Observation, plan: DrainPlan): ReadonlyMap<string, PoolPod> {
  const staying = pods.filter(({ name }) => !plan.remove.includes(name))
  const isInterrupted = ({ name }: PoolPod) => interruptions.begin.some(({ pod }) => pod === name)
  return new Map(
    staying.map((pod) => [
      pod.name,
      { ...withMarks(plan, pod, now), ...(isInterrupted(pod) && { interrupted: true }) },
    ]),
  )
}

/** A pod as it will be after the plan is carried out. */
function withMarks({ mark, release, refuse }: DrainPlan, pod: PoolPod, now: Date): PoolPod {
  if (mark.includes(pod.name)) return { ...pod, markedAt: now.getTime() }
  return release.includes(pod.name) || refuse.includes(pod.name) ? { ...pod, markedAt: null } : pod
}

/** Measured seconds from the creation of a worker until it accepts jobs; 0 before the first measurement. */
export function startSecondsOf(start: WorkerStart | undefined): number {
  if (start === undefined) return 0
  const { schedulingSeconds, initializationSeconds, imageSeconds, warmupSeconds } = start
  return schedulingSeconds + initializationSeconds + imageSeconds + warmupSeconds
}

/** Appends a decision to those that are not in the status yet; skips a decision that changes nothing and equals the last one. */
function withDecision(unreported: readonly TimedDecision[], next: TimedDecision): readonly TimedDecision[] {
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
