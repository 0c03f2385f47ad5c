import type { PoolRegistry } from '../../../api/shared/engines/pool-registry.ts'
import type { Client } from '../../runtime/client.ts'
import type { RecordEvent } from '../../runtime/events.ts'
import type { KubernetesObject } from '../../runtime/resource.ts'
import type { WorkerPool } from '../resource.ts'
import type { Node, NodeCondition, Taint } from './node.ts'
import { annotationsFor, interruptedBy, isEnded, isEvicted, PODS, type Pod } from './pods.ts'

/** Time for the running jobs of a worker whose node ends. Azure and AWS give at least 30 s. */
const HAND_BACK_MS = 25_000
/** A Spot VM of GKE gives its pods 15 s. */
const GKE_TAINT = 'cloud.google.com/impending-node-termination'
const GKE_HAND_BACK_MS = 10_000
const CORDON = 'node.kubernetes.io/unschedulable'

/** Taints that announce the end of a node: node termination handlers of AWS and GKE, Karpenter, the Cluster Autoscaler. */
const ENDING_TAINTS: ReadonlySet<string> = new Set([
  'aws-node-termination-handler/spot-itn',
  'aws-node-termination-handler/asg-lifecycle-termination',
  'karpenter.sh/disrupted',
  GKE_TAINT,
  'ToBeDeletedByClusterAutoscaler',
])
/** Conditions that announce a scheduled event of Azure. */
const ENDING_CONDITIONS: ReadonlySet<string> = new Set([
  ...['VMEventScheduled', 'PreemptScheduled', 'TerminateScheduled', 'RebootScheduled', 'RedeployScheduled'],
])

export function isEndingTaint({ key }: Taint): boolean {
  return ENDING_TAINTS.has(key)
}

/** A freeze pauses the machine for seconds and ends nothing. */
export function isEndingCondition({ type, status, reason = '', message = '' }: NodeCondition): boolean {
  return ENDING_CONDITIONS.has(type) && status === 'True' && !/freeze/i.test(`${reason} ${message}`)
}

/** A text that changes when another notice arrives for the node, or when one is withdrawn. */
export function noticesOf({ spec, status }: Node): string {
  const taints = spec?.taints?.filter(isEndingTaint).map(({ key }) => key) ?? []
  const conditions = status?.conditions?.filter(isEndingCondition).map(({ type }) => type) ?? []
  return [...taints, ...conditions, ...(spec?.unschedulable ? [CORDON] : [])].join()
}

/** The notice of an ending node, for one worker on it. */
export interface Interruption {
  readonly pod: string
  readonly node: string
  /** Key of the taint, or type of the condition. */
  readonly reason: string
  readonly deleting: boolean
}

export interface Interruptions {
  /** All workers on ending nodes. */
  readonly ending: readonly Interruption[]
  /** Workers to interrupt now. */
  readonly begin: readonly Interruption[]
  /** Interrupted workers whose node stays: the notice was withdrawn. */
  readonly withdrawn: readonly Pick<Interruption, 'pod' | 'node'>[]
  /** When each notice was first seen, in ms since 1970. */
  readonly seenAt: ReadonlyMap<string, number>
}

/**
 * Finds the workers whose node ends: by a taint, by a condition, or by a drain, which cordons the node and evicts a worker. A worker
 * that was created after the notice is left alone: its node accepts workers despite the notice, and each replacement could be put there.
 */
export function findInterruptions({
  pods,
  findNode,
  seenBefore,
  now,
}: {
  pods: readonly Pod[]
  findNode: (name: string) => KubernetesObject | undefined
  seenBefore: ReadonlyMap<string, number>
  now: Date
}): Interruptions {
  const byNode = Map.groupBy(
    pods.filter((pod) => !isEnded(pod)),
    ({ spec }) => spec?.nodeName,
  )
  const found: { ending: Interruption[]; begin: Interruption[]; withdrawn: Interruptions['withdrawn'][number][] } = {
    ending: [],
    begin: [],
    withdrawn: [],
  }
  const seenAt = new Map<string, number>()
  for (const [name, ofNode] of byNode) {
    const node = name === undefined ? undefined : (findNode(name) as Node | undefined)
    // A node that is gone withdraws nothing.
    if (name === undefined || node === undefined) continue
    const notice = noticeOf(node, ofNode)
    if (notice === null) {
      const interrupted = ofNode.filter((pod) => interruptedBy(pod) !== null)
      found.withdrawn.push(...interrupted.map(({ metadata }) => ({ pod: metadata.name, node: name })))
      continue
    }
    const key = `${name} ${notice.reason}`
    const since = notice.since ?? seenBefore.get(key) ?? wholeSeconds(now)
    seenAt.set(key, since)
    for (const pod of ofNode) {
      const { name: podName, creationTimestamp = '', deletionTimestamp } = pod.metadata
      const deleting = deletionTimestamp !== undefined
      const interruption = { pod: podName, node: name, reason: notice.reason, deleting }
      found.ending.push(interruption)
      const isDone = interruptedBy(pod) !== null && deleting
      // Creation times are whole seconds: the first replacement can be created within the second of the notice.
      if (!isDone && Date.parse(creationTimestamp) < since) found.begin.push(interruption)
    }
  }
  return { ...found, seenAt }
}

function wholeSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000) * 1000
}

/** `since` is absent if the API server does not record it. */
function noticeOf({ spec, status }: Node, pods: readonly Pod[]): { reason: string; since?: number } | null {
  const taint = spec?.taints?.find(isEndingTaint)
  if (taint) return { reason: taint.key }
  const condition = status?.conditions?.find(isEndingCondition)
  if (condition) {
    const since = Date.parse(condition.lastTransitionTime ?? '')
    return { reason: condition.type, ...(Number.isFinite(since) && { since }) }
  }
  // A cordon alone ends nothing: its workers stay until someone evicts them.
  const isDrained = spec?.unschedulable && pods.some((pod) => isEvicted(pod) || interruptedBy(pod) === CORDON)
  return isDrained ? { reason: CORDON } : null
}

/**
 * Interrupts workers: each is replaced at once because its pod is deleted, takes no more jobs, and hands back the jobs that it cannot
 * finish in time. An order that cannot be sent is tried again in the next pass.
 */
export function createInterrupt({
  client,
  registry,
  record,
  now,
}: {
  client: Pick<Client, 'patch' | 'delete'>
  registry: Pick<PoolRegistry, 'order' | 'limitJobs'>
  record: RecordEvent
  now: () => Date
}) {
  return async (pool: WorkerPool, { begin, withdrawn }: Interruptions): Promise<void> => {
    const { namespace } = pool.metadata
    const annotate = (name: string, annotations: Record<string, string | null>) =>
      client.patch(PODS, { namespace, name }, { metadata: { annotations } })
    const order = async (name: string, limitMs: number) => {
      await registry.limitJobs(name, limitMs)
      await registry.order(name, now().getTime())
    }
    // First, because an order waits while Redis is unavailable. SIGTERM alone makes a worker take no more jobs.
    await Promise.all(
      begin.filter(({ deleting }) => !deleting).map(({ pod }) => client.delete(PODS, { namespace, name: pod })),
    )
    for (const { pod, node, reason } of begin) {
      const ordered = await order(pod, reason === GKE_TAINT ? GKE_HAND_BACK_MS : HAND_BACK_MS).then(
        () => true,
        () => false,
      )
      if (!ordered) continue
      await annotate(pod, annotationsFor.interrupt(reason))
      const message = `${pod} takes no more jobs and is replaced, because its node ${node} ends: ${reason}.`
      await record(pool, { type: 'Normal', reason: 'NodeEnding', message })
    }
    for (const { pod, node } of withdrawn) {
      await registry.limitJobs(pod, null)
      await annotate(pod, annotationsFor.resume())
      const message = `${pod} finishes its jobs, because its node ${node} does not end.`
      await record(pool, { type: 'Normal', reason: 'NodeStays', message })
    }
  }
}
