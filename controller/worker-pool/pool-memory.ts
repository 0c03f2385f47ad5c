import { type Claim, type Decision, emptyMemory, type ScalingMemory } from './decide.ts'
import type { PoolPod } from './drain.ts'
import type { ReplicaSet } from './replica-set.ts'
import type { WorkerPool } from './resource.ts'
import { MAX_DECISIONS, type SickWorker, type WorkerStart } from './status-schema.ts'

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
  /** The same, but of a decision that is still carried out the higher number: both may be there meanwhile. */
  promised: number
  /** What other pools that share a cost budget leave to this one; null before the first look. */
  claim: Claim | null
  /** Workers that the ReplicaSet was last asked for; null when this process has not asked yet. */
  replicas: number | null
  pods: ReadonlyMap<string, PoolPod>
  /** When that was; ms since 1970. */
  lookedAt: number
  /** Marked pods that have still to go since the replicas were lowered. */
  expected: number
  /** When the replicas were lowered last, as far as is known (ms since 1970). */
  loweredAt: number
  /** Decisions that are not in the status yet, oldest first. */
  untold: readonly TimedDecision[]
  /** When the first write happened that is not in the status yet (ms since 1970); null when all are. */
  owesSince: number | null
  /** Workers that were sick, newest first. */
  sickWorkers: readonly SickWorker[]
  /** Names of the pods that have been ready at a look. */
  readyPods: ReadonlySet<string>
  /** The last start of a worker whose phases are known. */
  lastStart: WorkerStart | undefined
  /** When this process last wrote the status (ms since 1970). */
  statusWrittenAt: number
}

/** For so long after the replicas were lowered pods may be chosen by what they were then. */
const LOWERING_SETTLES_MS = 3000

export function firstMemory(pool: WorkerPool, replicaSet: ReplicaSet | undefined, now: Date): PoolMemory {
  const desired = pool.status?.desiredReplicas ?? replicaSet?.spec.replicas ?? 0
  // Another controller may have lowered them just before.
  return {
    scaling: memoryFrom(pool, now),
    desired,
    promised: desired,
    claim: null,
    replicas: null,
    pods: new Map(),
    lookedAt: now.getTime(),
    expected: 0,
    loweredAt: now.getTime(),
    untold: [],
    owesSince: null,
    sickWorkers: pool.status?.sickWorkers ?? [],
    readyPods: new Set(),
    lastStart: pool.status?.lastStart,
    statusWrittenAt: Number.NEGATIVE_INFINITY,
  }
}

/** The decisions that are not in the status yet; one that changes nothing and says the same as the last is left out. */
export function withDecision(untold: readonly TimedDecision[], next: TimedDecision): readonly TimedDecision[] {
  const last = untold.at(-1)?.decision
  const { direction, to, limitedBy } = next.decision
  const isSame = direction === 'None' && last?.to === to && last.limitedBy.join() === limitedBy.join()
  return isSame ? untold : [...untold, next].slice(-MAX_DECISIONS)
}

/** Whether the cluster may still be taking pods away because the replicas were lowered, even if they were raised since. */
export function isShrinking(replicaSet: ReplicaSet | undefined, memory: PoolMemory, now: Date): boolean {
  const { metadata, status } = replicaSet ?? {}
  const seen = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
  return !seen || now.getTime() - memory.loweredAt < LOWERING_SETTLES_MS
}

/** What the status holds of the time before this process. */
function memoryFrom(pool: WorkerPool, now: Date): ScalingMemory {
  const changes = (pool.status?.decisions ?? []).map(({ at, from, to }) => ({ at: Date.parse(at), by: to - from }))
  return { ...emptyMemory(now), changes: changes.reverse() }
}
