import type { Budget } from '../scaling/schedule.ts'

/** A pod of the pool, as read from the API server. Times in ms since 1970. */
export interface PoolPod {
  readonly name: string
  readonly ready: boolean
  /** The worker has been ready once: it can have a running job, even if it is not ready now. */
  readonly started: boolean
  readonly createdAt: number
  /** The pod is already being deleted. */
  readonly deleting: boolean
  /** When the worker was fenced; null if it is not. */
  readonly fencedAt: number | null
  /** When the pod was marked for removal; null if it is not. */
  readonly markedAt: number | null
  /** When the controller last gave up on the pod because its worker did not acknowledge the fence. */
  readonly refusedAt: number | null
  /** Digest of the pod's template; null if the pod has none. */
  readonly template: string | null
  /** Another writer has changed the pod's deletion cost so that Kubernetes may delete a pod other than a marked one. */
  readonly costChanged?: boolean
  /** Who has set the annotations that protect the pod from disruption, with any value; absent if the pod has none. */
  readonly protectedBy?: 'controller' | 'operator'
  /** The controller has deleted the pod because its node ends. */
  readonly interrupted?: boolean
  /** Another program ends the pod: the scheduler or Kueue preempts it, or it is evicted. */
  readonly disrupted?: boolean
}

/** The last report of a pod's worker. A silent worker has none. */
export interface LiveWorker {
  readonly state: 'taking' | 'draining' | 'drained'
  /** The acknowledged fence, by its time; null if the worker accepts jobs. */
  readonly fence: number | null
  readonly jobs: number
  /** Since when the worker has had no job; null while it has one. */
  readonly idleSince: number | null
  /** Seconds that the longest download of model files took; absent without one. */
  readonly downloadSeconds?: number
  /** Why the worker has fenced itself permanently; absent while its device works. */
  readonly sick?: { readonly reason: string; readonly message: string; readonly since: number }
}

export interface DrainInput {
  readonly pods: readonly PoolPod[]
  readonly workers: ReadonlyMap<string, LiveWorker>
  /** Pods to replace that do no work: they are removed before their replacements are created. */
  readonly replaced?: ReadonlySet<string>
  /** Pods to exchange: each is deleted by name after it has drained, and the ReplicaSet creates its replacement. */
  readonly exchanged?: Exchange
  /** The number of workers to reach. */
  readonly target: number
  /** The current replicas of the ReplicaSet. */
  readonly replicas: number
  /** Whether the cluster may still be deleting pods because the replicas were lowered, even if they have been raised since. */
  readonly shrinking: boolean
  /** Limit on concurrent removals; null if there is none. */
  readonly budget: Budget | null
  /**
   * Workers above this number leave as soon as they have finished their jobs, regardless of `removeBusy` and the budget; null
   * without such a limit.
   */
  readonly ceiling: number | null
  readonly acknowledgeSeconds: number
  readonly removeBusy: boolean
  readonly now: number
}

export interface Exchange {
  readonly names: ReadonlySet<string>
  /** Max number of these pods to delete by name. */
  readonly max: number
}

/** The next steps. In this order, each step is safe even if no further step follows. */
export interface DrainPlan {
  /** Did not acknowledge the fence: may accept jobs again. */
  readonly refuse: readonly string[]
  /** Required again: may accept jobs again. */
  readonly release: readonly string[]
  /** Must accept no more jobs. */
  readonly fence: readonly string[]
  /** Not marked, but would be removed first: its deletion cost is removed. */
  readonly restore: readonly string[]
  /** Idle and fenced: to be removed first. */
  readonly mark: readonly string[]
  /** Drained: to be deleted while the number of workers stays the same. */
  readonly remove: readonly string[]
  /** New replicas of the ReplicaSet. */
  readonly replicas: number
  /** Why there are more workers than desired; null if there are not. */
  readonly waitsFor: string | null
}

/** Delay after which the cluster's own controllers know a mark, even under load. */
const MARK_SETTLES_MS = 2000
/** A worker that did not acknowledge a fence is not fenced again for this long. */
const REFUSED_MS = 300_000

/**
 * Plans the steps from the existing to the desired workers without ever removing a worker with a job. A pure function of the
 * observed state, so it can be interrupted at any point: replicas are lowered only by the number of marked pods whose workers
 * currently report that they are drained.
 */
export function planDrain(input: DrainInput): DrainPlan {
  const { pods, replicas, now } = input
  const alive = pods.filter(({ deleting }) => !deleting)
  const target =
    input.target > alive.length ? input.target : Math.min(input.target, alive.length - countLeaving(alive, input))
  const fenced = alive.filter(({ fencedAt }) => fencedAt !== null)
  // The ReplicaSet has more pods than replicas: it selects the pods to delete by their marks at any moment.
  const doomed = Math.max(0, alive.length - replicas)
  const mayReturn = (pod: PoolPod) => pod.markedAt === null || (doomed === 0 && !input.shrinking)
  const isExchanged = ({ name }: PoolPod) => input.exchanged?.names.has(name) ?? false
  if (target >= alive.length) {
    const silent = fenced.filter((pod) => isExchanged(pod) && mayReturn(pod) && isRefused(pod, input))
    const release = fenced.filter((pod) => !isExchanged(pod) && mayReturn(pod))
    const fence = alive.filter((pod) => isExchanged(pod) && pod.fencedAt === null && canBeFenced(pod, input))
    const drained = fenced.filter((pod) => isExchanged(pod) && isDrained(pod, input))
    const going = fenced.length - release.length - silent.length + fence.length
    return {
      refuse: silent.map(({ name }) => name),
      release: release.map(({ name }) => name),
      fence: fence.map(({ name }) => name),
      restore: [],
      mark: [],
      remove: drained.slice(0, input.exchanged?.max).map(({ name }) => name),
      replicas: target,
      waitsFor: going > 0 ? describePending({ going }) : null,
    }
  }
  const refuse = fenced.filter((pod) => mayReturn(pod) && isRefused(pod, input))
  const going = fenced.filter((pod) => !refuse.includes(pod))
  const surplus = alive.length - target
  const excess = Math.max(0, alive.length - Math.max(target, input.ceiling ?? alive.length))
  const tooMany = Math.max(0, going.length - Math.max(surplus, doomed))
  const release = byRemovalProgress(going, input)
    .slice(0, tooMany)
    .filter((pod) => mayReturn(pod) && !isExchanged(pod))
  const kept = going.filter((pod) => !release.includes(pod))
  const candidates = alive.filter((pod) => pod.fencedAt === null && canBeFenced(pod, input))
  const allowed = Math.max(excess, Math.min(surplus, input.budget?.maxDraining ?? surplus))
  const fence = removalOrder(candidates, input, excess - kept.length).slice(0, Math.max(0, allowed - kept.length))
  const drained = kept.filter((pod) => isDrained(pod, input))
  const changed = alive.filter(({ costChanged }) => costChanged)
  // The new marks settle together with the restored costs.
  const mark = changed.length > 0 ? drained : drained.filter(({ markedAt }) => markedAt === null)
  const settled = drained.filter(
    (pod) => pod.markedAt !== null && !mark.includes(pod) && now - pod.markedAt >= MARK_SETTLES_MS,
  )
  const lowered = Math.min(replicas, Math.max(target, alive.length - settled.length))
  const chosen = kept.length + fence.length
  const held = chosen < surplus && chosen >= Math.max(excess, input.budget?.maxDraining ?? Number.POSITIVE_INFINITY)
  const unsure = alive.filter((pod) => !pod.ready && pod.started && !drained.includes(pod))
  return {
    refuse: refuse.map(({ name }) => name),
    release: release.map(({ name }) => name),
    fence: fence.map(({ name }) => name),
    restore: changed.filter(({ markedAt }) => markedAt === null).map(({ name }) => name),
    mark: mark.map(({ name }) => name),
    remove: [],
    // A pod that is not ready would be deleted first, with or without a job.
    replicas: unsure.length > 0 ? Math.max(replicas, target) : lowered,
    waitsFor: held
      ? `budget ${input.budget?.name}`
      : describePending({ changed: changed.length, unsure: unsure.length, going: chosen, busy: surplus - chosen }),
  }
}

/** Pods to replace that are leaving or can be fenced. */
function countLeaving(alive: readonly PoolPod[], input: DrainInput): number {
  return alive.filter((pod) => {
    if (!input.replaced?.has(pod.name)) return false
    return pod.fencedAt === null ? canBeFenced(pod, input) : !isRefused(pod, input)
  }).length
}

function isRefused(pod: PoolPod, { workers, acknowledgeSeconds, now }: DrainInput): boolean {
  const { name, ready, started, fencedAt } = pod
  if (fencedAt === null || !started) return false
  const answered = workers.get(name)?.fence === fencedAt
  return !answered && (ready || workers.has(name)) && now - fencedAt > acknowledgeSeconds * 1000
}

function isDrained({ name, started, fencedAt }: PoolPod, { workers }: DrainInput): boolean {
  const worker = workers.get(name)
  // A worker that has never been ready has never accepted a job. An acknowledgement of an earlier fence does not count.
  return worker === undefined ? !started : worker.state === 'drained' && worker.fence === fencedAt
}

/** Whether a worker can be fenced. A silent worker that was ready before may still have a job. */
export function canBeFenced({ name, started, refusedAt }: PoolPod, { workers, now }: DrainInput): boolean {
  if (refusedAt !== null && now - refusedAt < REFUSED_MS) return false
  return !started || workers.has(name)
}

/** A plan without changes: a pause freezes a drain in progress. */
export function freeze(replicas: number): DrainPlan {
  return { refuse: [], release: [], fence: [], restore: [], mark: [], remove: [], replicas, waitsFor: null }
}

/**
 * Order of removal: not started, not ready, longest idle, youngest busy. All of them if the pool permits it, otherwise as many
 * as complete the first `required`.
 */
export function removalOrder(pods: readonly PoolPod[], input: DrainInput, required: number): PoolPod[] {
  const { workers, removeBusy, replaced } = input
  const jobs = ({ name }: PoolPod) => workers.get(name)?.jobs ?? 0
  const idleSince = ({ name }: PoolPod) => workers.get(name)?.idleSince ?? Number.POSITIVE_INFINITY
  const isReplaced = ({ name }: PoolPod) => replaced?.has(name) ?? false
  const rank = (pod: PoolPod) => (isReplaced(pod) ? -1 : !pod.started ? 0 : jobs(pod) > 0 ? 3 : pod.ready ? 2 : 1)
  return [...pods]
    .sort((a, b) => rank(a) - rank(b) || compare(idleSince(a), idleSince(b)) || b.createdAt - a.createdAt)
    .filter((pod, i) => removeBusy || i < required || jobs(pod) === 0 || isReplaced(pod))
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** Sorts pods by progress of their removal, least first. */
function byRemovalProgress(pods: readonly PoolPod[], input: DrainInput): PoolPod[] {
  const rank = (pod: PoolPod) => (pod.markedAt !== null ? 2 : isDrained(pod, input) ? 1 : 0)
  return [...pods].sort((a, b) => rank(a) - rank(b) || (b.fencedAt ?? 0) - (a.fencedAt ?? 0))
}

interface Pending {
  readonly changed?: number
  readonly unsure?: number
  readonly going: number
  readonly busy?: number
}

function describePending({ changed = 0, unsure = 0, going, busy = 0 }: Pending): string {
  if (changed > 0) return `${changed} workers whose pod-deletion-cost was changed`
  if (unsure > 0) return `${unsure} workers that are not ready and may have jobs`
  if (busy > 0) return `${busy} busy or silent workers`
  return `${going} workers that drain`
}
