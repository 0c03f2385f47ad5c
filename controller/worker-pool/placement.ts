import type { Pod } from './pods.ts'
import type { ReplicaSet } from './replica-set.ts'

/** Why workers do not get a node or a pod; each is null when all do. */
export interface Placement {
  readonly unscheduled: number
  /** The reason of the scheduler. */
  readonly whyUnscheduled: string | null
  /** The reason of the API server, as the ReplicaSet reports it. */
  readonly whyNotCreated: string | null
}

export function findPlacement(pods: readonly Pod[], replicaSets: readonly ReplicaSet[]): Placement {
  const refused = pods.flatMap(({ metadata, status }) => {
    const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
    return metadata.deletionTimestamp === undefined && scheduled?.status === 'False' ? [scheduled] : []
  })
  const failures = replicaSets.flatMap(({ status }) => status?.conditions ?? [])
  const failure = failures.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  const [first] = refused
  return {
    unscheduled: refused.length,
    whyUnscheduled: first ? (first.message ?? first.reason ?? 'The scheduler gives no reason.') : null,
    whyNotCreated: failure ? (failure.message ?? failure.reason ?? 'The API server gives no reason.') : null,
  }
}
