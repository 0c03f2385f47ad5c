import { shorten } from '../../runtime/conditions.ts'
import { type FailingWorkers, MAX_FAILING, MAX_KIND_LENGTH, MAX_REASON_LENGTH } from '../status/status-schema.ts'
import { type ContainerStatus, isEnded, type Pod } from './pods.ts'

/** Pods that a node rejected. Times in ms since 1970. */
export interface Rejections {
  readonly count: number
  readonly lastAt: number
  /** As the kubelet reports the last one. */
  readonly reason: string
  readonly message: string
}

/** What the controller remembers of failed pods. */
export interface FailureMemory {
  readonly byNode: ReadonlyMap<string, Rejections>
  /** Names of the failed pods that are counted already. */
  readonly counted: ReadonlySet<string>
}

export interface Failures {
  readonly memory: FailureMemory
  /** For the status: workers that cannot start, and pods that nodes rejected. */
  readonly failing: readonly FailingWorkers[]
  /** Nodes that get no new worker now, sorted. */
  readonly avoidedNodes: readonly string[]
  /** Ended pods to delete. */
  readonly obsolete: readonly string[]
}

/** Ended pods that stay, for `kubectl describe`. */
const KEPT_PODS = 3
/** After its first rejection a node gets no worker for this long; doubled by each further one. */
const FIRST_PAUSE_MS = 10_000
const MAX_PAUSE_MS = 300_000
/** A node that has rejected no pod for this long after a pause counts as sound. */
const FORGET_MS = 600_000
/** States of a container on its way. */
const ON_ITS_WAY: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])

/** Finds workers that cannot start. `memory` is null before the first reconcile of this process. */
export function findFailures({
  live,
  ended,
  memory,
  now,
}: {
  live: readonly Pod[]
  ended: readonly Pod[]
  memory: FailureMemory | null
  now: Date
}): Failures {
  const byNode = countRejections(ended, memory, now)
  for (const [node, { lastAt, count }] of byNode) {
    const isUsable = live.some((pod) => pod.spec?.nodeName === node && isReady(pod) && createdAt(pod) >= lastAt)
    if (isUsable || now.getTime() - lastAt > pauseAfter(count) + FORGET_MS) byNode.delete(node)
  }
  const isPaused = ({ lastAt, count }: Rejections) => now.getTime() < lastAt + pauseAfter(count)
  const failing = [...groupStarts(live), ...[...byNode].map(([node, rejections]) => present(node, rejections))]
  return {
    memory: { byNode, counted: new Set(ended.map(({ metadata }) => metadata.name)) },
    failing: failing.toSorted((a, b) => b.workers - a.workers || (a.reason < b.reason ? -1 : 1)).slice(0, MAX_FAILING),
    avoidedNodes: [...byNode].flatMap(([node, rejections]) => (isPaused(rejections) ? [node] : [])).toSorted(),
    obsolete: ended
      .toSorted((a, b) => createdAt(b) - createdAt(a))
      .slice(KEPT_PODS)
      .flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp === undefined ? [name] : [])),
  }
}

/** Pods by whether they have ended. An ended pod does not come back, and holds and costs nothing. */
export function partitionEnded(pods: readonly Pod[]): { live: readonly Pod[]; ended: readonly Pod[] } {
  return { live: pods.filter((pod) => !isEnded(pod)), ended: pods.filter(isEnded) }
}

function countRejections(ended: readonly Pod[], memory: FailureMemory | null, now: Date): Map<string, Rejections> {
  const byNode = new Map(memory?.byNode)
  for (const pod of ended) {
    const node = pod.spec?.nodeName
    if (node === undefined || !isRejected(pod) || memory?.counted.has(pod.metadata.name)) continue
    // A pod that an earlier process has seen was rejected long ago.
    const at = memory === null ? createdAt(pod) : now.getTime()
    const before = byNode.get(node)
    byNode.set(node, {
      count: (before?.count ?? 0) + 1,
      lastAt: Math.max(at, before?.lastAt ?? 0),
      reason: pod.status?.reason ?? 'Failed',
      message: pod.status?.message ?? '',
    })
  }
  return byNode
}

/** Whether the kubelet ended the pod before any of its containers ran. Containers of workers are restarted and end no pod. */
function isRejected({ status }: Pod): boolean {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return status?.phase === 'Failed' && containers.every(({ state }) => state?.terminated === undefined)
}

function pauseAfter(count: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 30))
}

function present(node: string, { count, reason, message }: Rejections): FailingWorkers {
  return {
    reason: shorten(reason, MAX_KIND_LENGTH),
    workers: count,
    node,
    message: shorten(message, MAX_REASON_LENGTH),
  }
}

/** Workers that do not become ready, by the reason of their containers. */
function groupStarts(live: readonly Pod[]): FailingWorkers[] {
  const problems = live
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && !isReady(pod))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((pod) => problemOf(pod) ?? [])
  return [...Map.groupBy(problems, ({ reason }) => reason)].map(([reason, [first, ...more]]) => ({
    reason: shorten(reason, MAX_KIND_LENGTH),
    workers: 1 + more.length,
    message: shorten(first.message, MAX_REASON_LENGTH),
  }))
}

interface Problem {
  readonly reason: string
  readonly message: string
}

function problemOf({ status }: Pod): Problem | null {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return containers.map(problemOfContainer).find((problem) => problem !== null) ?? null
}

function problemOfContainer({ ready, started, state, lastState }: ContainerStatus): Problem | null {
  const { reason = '', message = '' } = state?.waiting ?? {}
  const ending = lastState?.terminated
  // A container that crashed runs between two pauses, too: until it has started the problem stays the same.
  if (
    !ready &&
    started !== true &&
    ending &&
    ending.exitCode !== 0 &&
    (reason === '' || reason === 'CrashLoopBackOff')
  ) {
    const said = ending.message?.trim().split('\n').at(-1)
    const isKilled = ending.reason === 'OOMKilled'
    return {
      reason: isKilled ? 'OOMKilled' : 'CrashLoopBackOff',
      message: `exit code ${ending.exitCode}${said ? `: ${said}` : ''}`,
    }
  }
  if (reason === '' || ON_ITS_WAY.has(reason)) return null
  // The kubelet alternates between both, and repeats the cause.
  const isPull = reason === 'ErrImagePull' || reason === 'ImagePullBackOff'
  return {
    reason: isPull ? 'ImagePullBackOff' : reason,
    message: message.replace(/^Back-off pulling image "[^"]*": /, ''),
  }
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}
