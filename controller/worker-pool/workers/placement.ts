import type { ReplicaSet } from '../template/replica-set.ts'
import type { Pod } from './pods.ts'

/** Why workers do not get a node or a pod; each field is null if all do. */
export interface Placement {
  readonly unscheduled: number
  /** Pods that Kueue holds back until their queue has quota. */
  readonly gated: number
  /** Message of the scheduler. */
  readonly whyUnscheduled: string | null
  /** Message of the API server, as the ReplicaSet reports it. */
  readonly whyNotCreated: string | null
}

/** Prefix of the scheduling gates of Kueue. */
const KUEUE_GATES = 'kueue.x-k8s.io/'

/** A pod without a scheduling condition after this time waits for another object. */
const SCHEDULER_TIMEOUT_MS = 10_000
const NOT_CONSIDERED = 'The scheduler has not considered the pod: a resource claim or its template may be missing.'

export function findPlacement(pods: readonly Pod[], replicaSets: readonly ReplicaSet[], now: Date): Placement {
  const [gated, free] = partition(pods)
  const refused = free.flatMap(({ metadata, spec, status }) => {
    const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
    if (metadata.deletionTimestamp !== undefined) return []
    if (scheduled !== undefined) return scheduled.status === 'False' ? [scheduled] : []
    const waitsMs = now.getTime() - Date.parse(metadata.creationTimestamp ?? '')
    const isUnheard = spec?.nodeName === undefined && status?.phase === 'Pending' && waitsMs > SCHEDULER_TIMEOUT_MS
    return isUnheard ? [{ type: 'PodScheduled', status: 'Unknown', message: NOT_CONSIDERED }] : []
  })
  const failures = replicaSets.flatMap(({ status }) => status?.conditions ?? [])
  const failure = failures.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  const [first] = refused
  return {
    unscheduled: refused.length,
    gated: gated.length,
    whyUnscheduled: first ? (first.message ?? first.reason ?? 'The scheduler gives no reason.') : null,
    whyNotCreated: failure ? (failure.message ?? failure.reason ?? 'The API server gives no reason.') : null,
  }
}

/** The pods that stay and that Kueue holds back, and all others. */
function partition(pods: readonly Pod[]): [Pod[], Pod[]] {
  const isGated = ({ metadata, spec }: Pod) =>
    metadata.deletionTimestamp === undefined &&
    (spec?.schedulingGates?.some(({ name }) => name.startsWith(KUEUE_GATES)) ?? false)
  return [pods.filter(isGated), pods.filter((pod) => !isGated(pod))]
}
