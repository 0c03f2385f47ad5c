import type { Budget } from './schedule.ts'

/** A pod of the pool, as the API server knows it. Times in ms since 1970. */
export interface PoolPod {
  readonly name: string
  readonly ready: boolean
  /** Its worker has been ready once: from then on it may have a job in hand, ready or not. */
  readonly started: boolean
  readonly createdAt: number
  /** It is being deleted already. */
  readonly deleting: boolean
  /** When it was asked to take no more jobs; null when it was not. */
  readonly fencedAt: number | null
  /** When it was marked as the one to go; null when it is not. */
  readonly markedAt: number | null
  /** When it was last left alone because it did not answer. */
  readonly refusedAt: number | null
  /** The digest of the template that it was made from; null when it carries none. */
  readonly template: string | null
}

/** What the worker in a pod says of itself. A worker that has been silent says nothing. */
export interface LiveWorker {
  readonly state: 'taking' | 'draining' | 'drained'
  /** Which request it follows: the time at which its pod was fenced; null when it takes jobs. */
  readonly fence: number | null
  readonly jobs: number
  /** Since when it has had no job; null while it has. */
  readonly idleSince: number | null
  /** Why it has fenced itself for good; absent while its device works. */
  readonly sick?: { readonly reason: string; readonly message: string; readonly since: number }
}

export interface DrainInput {
  readonly pods: readonly PoolPod[]
  readonly workers: ReadonlyMap<string, LiveWorker>
  /** Pods to replace, which do no work: they leave before others come in their place. */
  readonly replaced?: ReadonlySet<string>
  /** Pods to exchange: each is removed by its name when it has drained, and the ReplicaSet makes another. */
  readonly exchanged?: Exchange
  /** Workers that there should be in the end. */
  readonly target: number
  /** Workers that the ReplicaSet asks for now. */
  readonly replicas: number
  /** The cluster may still be removing pods because the replicas were lowered, even if they have been raised since. */
  readonly shrinking: boolean
  /** Limits how many may be on their way out at the same time; null when nothing does. */
  readonly budget: Budget | null
  /**
   * Workers above this number leave as soon as they have finished their jobs, whatever `removeBusy` and the budget say; null when
   * there is no such limit.
   */
  readonly ceiling: number | null
  readonly acknowledgeSeconds: number
  readonly removeBusy: boolean
  readonly now: number
}

export interface Exchange {
  readonly names: ReadonlySet<string>
  /** How many of them may be removed by their names. */
  readonly max: number
}

/** What to do next. Done in this order, each step is safe when nothing comes after it. */
export interface DrainPlan {
  /** Did not answer: may take jobs again. */
  readonly refuse: readonly string[]
  /** Are needed again: may take jobs again. */
  readonly release: readonly string[]
  /** Shall take no more jobs. */
  readonly fence: readonly string[]
  /** Have no job and take none: shall be the first to go. */
  readonly mark: readonly string[]
  /** Are drained: shall be removed while the number of workers stays. */
  readonly remove: readonly string[]
  /** What the ReplicaSet shall ask for now. */
  readonly replicas: number
  /** Why there are more workers than wanted; null when there are not. */
  readonly waitsFor: string | null
}

/** The cluster has to know the mark before it chooses whom to remove, also when it has much to do. */
const MARK_SETTLES_MS = 2000
/** A worker that did not answer is not asked again for so long. */
const REFUSED_MS = 300_000

/**
 * How to come from the workers that are there to those that should be without ever removing one that has a job. A pure function
 * of what can be seen, so that it may be interrupted anywhere: replicas are lowered by marked pods only, whose workers say at this
 * very moment that they are drained.
 */
export function planDrain(input: DrainInput): DrainPlan {
  const { pods, replicas, now } = input
  const alive = pods.filter(({ deleting }) => !deleting)
  const target =
    input.target > alive.length ? input.target : Math.min(input.target, alive.length - countLeaving(alive, input))
  const fenced = alive.filter(({ fencedAt }) => fencedAt !== null)
  // The ReplicaSet asks for fewer pods than there are; it chooses them by their marks at any moment.
  const doomed = Math.max(0, alive.length - replicas)
  const mayReturn = (pod: PoolPod) => pod.markedAt === null || (doomed === 0 && !input.shrinking)
  const isExchanged = ({ name }: PoolPod) => input.exchanged?.names.has(name) ?? false
  if (target >= alive.length) {
    const silent = fenced.filter((pod) => isExchanged(pod) && mayReturn(pod) && isRefused(pod, input))
    const release = fenced.filter((pod) => !isExchanged(pod) && mayReturn(pod))
    const fence = alive.filter((pod) => isExchanged(pod) && pod.fencedAt === null && isKnown(pod, input))
    const drained = fenced.filter((pod) => isExchanged(pod) && isDrained(pod, input))
    const going = fenced.length - release.length - silent.length + fence.length
    return {
      refuse: silent.map(({ name }) => name),
      release: release.map(({ name }) => name),
      fence: fence.map(({ name }) => name),
      mark: [],
      remove: drained.slice(0, input.exchanged?.max).map(({ name }) => name),
      replicas: target,
      waitsFor: going > 0 ? whatFor({ going }) : null,
    }
  }
  const refuse = fenced.filter((pod) => mayReturn(pod) && isRefused(pod, input))
  const going = fenced.filter((pod) => !refuse.includes(pod))
  const surplus = alive.length - target
  const excess = Math.max(0, alive.length - Math.max(target, input.ceiling ?? alive.length))
  const tooMany = Math.max(0, going.length - Math.max(surplus, doomed))
  const release = leastGone(going, input)
    .slice(0, tooMany)
    .filter((pod) => mayReturn(pod) && !isExchanged(pod))
  const kept = going.filter((pod) => !release.includes(pod))
  const candidates = alive.filter((pod) => pod.fencedAt === null && isKnown(pod, input))
  const allowed = Math.max(excess, Math.min(surplus, input.budget?.maxDraining ?? surplus))
  const fence = bestVictims(candidates, input, excess - kept.length).slice(0, Math.max(0, allowed - kept.length))
  const drained = kept.filter((pod) => isDrained(pod, input))
  const mark = drained.filter(({ markedAt }) => markedAt === null)
  const settled = drained.filter(({ markedAt }) => markedAt !== null && now - markedAt >= MARK_SETTLES_MS)
  const lowered = Math.min(replicas, Math.max(target, alive.length - settled.length))
  const chosen = kept.length + fence.length
  const held = chosen < surplus && chosen >= Math.max(excess, input.budget?.maxDraining ?? Number.POSITIVE_INFINITY)
  const unsure = alive.filter((pod) => !pod.ready && pod.started && !drained.includes(pod))
  return {
    refuse: refuse.map(({ name }) => name),
    release: release.map(({ name }) => name),
    fence: fence.map(({ name }) => name),
    mark: mark.map(({ name }) => name),
    remove: [],
    // A pod that is not ready would go before any other, job or not.
    replicas: unsure.length > 0 ? Math.max(replicas, target) : lowered,
    waitsFor: held
      ? `budget ${input.budget?.name}`
      : whatFor({ unsure: unsure.length, going: chosen, busy: surplus - chosen }),
  }
}

/** Pods to replace that leave or can be asked to. */
function countLeaving(alive: readonly PoolPod[], input: DrainInput): number {
  return alive.filter((pod) => {
    if (!input.replaced?.has(pod.name)) return false
    return pod.fencedAt === null ? isKnown(pod, input) : !isRefused(pod, input)
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
  // What has never been ready has never taken a job. An answer to an earlier request says nothing about now.
  return worker === undefined ? !started : worker.state === 'drained' && worker.fence === fencedAt
}

/** Whether a worker can be asked to leave. One that was up and is silent may still have a job. */
export function isKnown({ name, started, refusedAt }: PoolPod, { workers, now }: DrainInput): boolean {
  if (refusedAt !== null && now - refusedAt < REFUSED_MS) return false
  return !started || workers.has(name)
}

/** What leaves every pod as it is: a pause freezes a drain under way. */
export function standStill(replicas: number): DrainPlan {
  return { refuse: [], release: [], fence: [], mark: [], remove: [], replicas, waitsFor: null }
}

/**
 * Not started yet, then not ready, then longest idle, then the youngest busy: all of them where the pool allows it, otherwise as
 * many as complete the first `required`.
 */
export function bestVictims(pods: readonly PoolPod[], input: DrainInput, required: number): PoolPod[] {
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

/** Those first that are furthest from going. */
function leastGone(pods: readonly PoolPod[], input: DrainInput): PoolPod[] {
  const rank = (pod: PoolPod) => (pod.markedAt !== null ? 2 : isDrained(pod, input) ? 1 : 0)
  return [...pods].sort((a, b) => rank(a) - rank(b) || (b.fencedAt ?? 0) - (a.fencedAt ?? 0))
}

function whatFor({ unsure = 0, going, busy = 0 }: { unsure?: number; going: number; busy?: number }): string {
  if (unsure > 0) return `${unsure} workers that are not ready and may have jobs`
  if (busy > 0) return `${busy} busy or silent workers`
  return `${going} workers that drain`
}
