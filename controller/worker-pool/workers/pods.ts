import { reportName, type WorkerReport } from '../../../api/shared/engines/pool-registry.ts'
import { CHECK_PREFIX } from '../../engine/volume.ts'
import type { KubernetesObject, ResourceType } from '../../runtime/resource.ts'
import type { LiveWorker, PoolPod } from './drain.ts'

export const POOL_LABEL = 'drape.dev/pool'
export const WORKER_LABELS = { 'app.kubernetes.io/name': 'drape-worker' } as const
/** Label of a worker whose device keeps failing, for the scheduler. */
export const SICK_LABEL = 'drape.dev/sick'
/** Values of the label. */
export const SICK_VALUES = { replaced: 'true', nodeAvoided: 'node-avoided' } as const
/** Selects the workers of all pools. Any pod may carry the label of a pool alone. */
export const WORKER_PODS = `app.kubernetes.io/name=${WORKER_LABELS['app.kubernetes.io/name']},${POOL_LABEL}`
/** Name of the worker's container; the pod can have others. */
export const WORKER = 'worker'
export const PODS: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }

export interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string; readonly schedulingGates?: readonly { readonly name: string }[] }
  readonly status?: {
    readonly phase?: string
    /** Why the pod failed. */
    readonly reason?: string
    readonly message?: string
    readonly conditions?: readonly PodCondition[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  }
}

/** The phases of a worker's start, in seconds. `download` is absent without model files from a URL, and overlaps with the others. */
export const START_PHASES = ['scheduling', 'initialization', 'image', 'warmup', 'download'] as const
export type StartPhases = Readonly<Record<Exclude<(typeof START_PHASES)[number], 'download'>, number>> & {
  readonly download?: number
}

interface PodCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export interface ContainerStatus {
  readonly name: string
  readonly started?: boolean
  readonly ready?: boolean
  readonly state?: ContainerState
  readonly lastState?: Pick<ContainerState, 'terminated'>
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string }
}

const FENCED_AT = 'drape.dev/fenced-at'
const MARKED_AT = 'drape.dev/marked-at'
const REFUSED_AT = 'drape.dev/refused-at'
/** The notice of the ending node that the worker leaves for. */
const INTERRUPTED_BY = 'drape.dev/interrupted-by'
/** The controller has set the annotations against disruption. Without this mark they belong to the operator. */
const PROTECTED = 'drape.dev/protected'
/** Keep the Cluster Autoscaler and Karpenter from removing the node of a pod to save costs. */
const NO_DISRUPTION: Readonly<Record<string, string>> = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
}
/** Digest of the template of a pod. */
export const TEMPLATE_DIGEST = 'drape.dev/template-digest'
/** The pod has an anti-affinity to sick workers on avoided nodes. Not a part of the digest. */
export const AVOIDS_SICK = 'drape.dev/avoids-sick'
/** Names of the nodes that the pod must not be placed on, because they rejected others. Not a part of the digest. */
export const AVOIDS_NODES = 'drape.dev/avoids-nodes'
/** Kubernetes deletes the pods with the lowest cost first, among equally ready pods. */
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  ...[FENCED_AT, MARKED_AT, REFUSED_AT, INTERRUPTED_BY],
  ...[TEMPLATE_DIGEST, AVOIDS_SICK, AVOIDS_NODES, DELETION_COST, PROTECTED],
])
const KEPT_ANNOTATIONS: ReadonlySet<string> = new Set([...OWN_ANNOTATIONS, ...Object.keys(NO_DISRUPTION)])
const LOWEST_COST = '-2147483648'

/** Annotations that record the steps of a removal; null removes an annotation. */
export const annotationsFor = {
  fence: (now: number) => ({ [FENCED_AT]: String(now) }),
  mark: (now: number) => ({ [MARKED_AT]: String(now), [DELETION_COST]: LOWEST_COST }),
  release: () => ({ [FENCED_AT]: null, [MARKED_AT]: null, [DELETION_COST]: null }),
  refuse: (now: number) => ({ ...annotationsFor.release(), [REFUSED_AT]: String(now) }),
  restore: () => ({ [DELETION_COST]: null }),
  interrupt: (notice: string) => ({ [INTERRUPTED_BY]: notice }),
  resume: () => ({ [INTERRUPTED_BY]: null }),
  protect: () => ({ [PROTECTED]: 'true', ...NO_DISRUPTION }),
  unprotect: () => Object.fromEntries([PROTECTED, ...Object.keys(NO_DISRUPTION)].map((name) => [name, null])),
  /** For operators, and for tools that collect pods with failing devices. */
  sick: (reason: string) => ({ [SICK_LABEL]: reason }),
}

/** Annotations without the controller's own: a template must not mark its pods as draining. */
export function withoutOwnAnnotations(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !OWN_ANNOTATIONS.has(name)))
}

/** Kubernetes sets the first before it preempts or evicts a pod, Kueue the second. */
const DISRUPTION_CONDITIONS: ReadonlySet<string> = new Set(['DisruptionTarget', 'TerminationTarget'])
const KEPT_CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'PodScheduled', 'Initialized', ...DISRUPTION_CONDITIONS])

/** The small part of a pod that the controller reads. */
export function keepOfPod({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels, annotations, creationTimestamp, deletionTimestamp } = metadata
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      deletionTimestamp,
      labels: {
        [POOL_LABEL]: labels?.[POOL_LABEL] ?? '',
        ...(labels?.[SICK_LABEL] !== undefined && { [SICK_LABEL]: labels[SICK_LABEL] }),
      },
      annotations: pickAnnotations(annotations),
    },
    spec: { nodeName: spec?.nodeName, ...(spec?.schedulingGates && { schedulingGates: spec.schedulingGates }) },
    status: {
      phase: status?.phase,
      ...(status?.phase === 'Failed' && { reason: status.reason, message: status.message }),
      conditions: status?.conditions?.filter(({ type }) => KEPT_CONDITIONS.has(type)).map(keepOfCondition),
      containerStatuses: status?.containerStatuses?.map(keepOfContainer),
      initContainerStatuses: status?.initContainerStatuses?.map(keepOfContainer),
    },
  }
}

function keepOfCondition({ type, status, reason, message, lastTransitionTime }: PodCondition): PodCondition {
  const isExplained = (type === 'PodScheduled' && status === 'False') || type === 'DisruptionTarget'
  return { type, status, lastTransitionTime, ...(isExplained && { reason, message }) }
}

function pickAnnotations(
  annotations: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const kept = Object.entries(annotations).filter(([name]) => KEPT_ANNOTATIONS.has(name))
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

function keepOfContainer({ name, started, ready, state, lastState }: ContainerStatus): ContainerStatus {
  return { name, started, ready, state: keepOfState(state), lastState: keepOfState(lastState) }
}

function keepOfState({ waiting, running, terminated }: ContainerState = {}): ContainerState | undefined {
  if (waiting) return { waiting: { reason: waiting.reason, message: waiting.message } }
  if (running) return { running: { startedAt: running.startedAt } }
  if (!terminated) return undefined
  const { exitCode, reason, message } = terminated
  return { terminated: { exitCode, reason, message } }
}

function isDisrupted({ status }: Pod): boolean {
  const conditions = status?.conditions ?? []
  return conditions.some(({ type, status: holds }) => DISRUPTION_CONDITIONS.has(type) && holds === 'True')
}

/** Whether all containers of the pod have ended. */
export function isEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Whether the pod was evicted, for example by `kubectl drain`. */
export function isEvicted({ status }: Pod): boolean {
  return (
    status?.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'EvictionByEvictionAPI') ??
    false
  )
}

/** The notice of the ending node that the controller interrupted the worker for; null if it did not. */
export function interruptedBy({ metadata }: Pod): string | null {
  return metadata.annotations?.[INTERRUPTED_BY] ?? null
}

export function readPod(pod: Pod): PoolPod {
  const { metadata, status } = pod
  const { name, annotations = {}, creationTimestamp, deletionTimestamp } = metadata
  const time = (annotation: string) => {
    const ms = Number(annotations[annotation])
    return Number.isFinite(ms) ? ms : null
  }
  const isCheapest = annotations[DELETION_COST] === LOWEST_COST
  return {
    name,
    ready: status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false,
    started: hasBeenReady(status),
    createdAt: Date.parse(creationTimestamp ?? ''),
    deleting: deletionTimestamp !== undefined || isEnded(pod),
    fencedAt: time(FENCED_AT),
    markedAt: time(MARKED_AT),
    refusedAt: time(REFUSED_AT),
    template: annotations[TEMPLATE_DIGEST] ?? null,
    ...(interruptedBy(pod) !== null && { interrupted: true }),
    ...(isDisrupted(pod) && { disrupted: true }),
    ...protectionOf(annotations),
    ...(isCheapest === (time(MARKED_AT) === null) && { costChanged: true }),
  }
}

function protectionOf(annotations: Readonly<Record<string, string>>): Pick<PoolPod, 'protectedBy'> {
  if (annotations[PROTECTED] !== undefined) return { protectedBy: 'controller' }
  return Object.keys(NO_DISRUPTION).some((name) => name in annotations) ? { protectedBy: 'operator' } : {}
}

/**
 * Whether the worker has been ready since its container started. A worker that waits for model files has passed its startup probe,
 * but has never been ready: the condition has not changed since the container runs. Timestamps are whole seconds; readiness lasts longer.
 */
function hasBeenReady(status: Pod['status']): boolean {
  const worker = workerOf(status)
  if (worker?.started !== true) return false
  // Without missing files, the startup probe has found the worker ready, also if the pod is not: the worker may have a job.
  const isWaiting = status?.initContainerStatuses?.some(({ ready: isComplete }) => isComplete === false) ?? false
  if (worker.ready || !isWaiting) return true
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const unreadySince = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN
  // A missing timestamp counts as ready before: the worker may have a job.
  return !(unreadySince <= Date.parse(worker.state?.running?.startedAt ?? ''))
}

/** Whether the worker's own readiness probe passes, whatever the other containers of the pod do. */
export function isWorkerReady({ status }: Pod): boolean {
  return workerOf(status)?.ready === true
}

function workerOf(status: Pod['status']): ContainerStatus | undefined {
  return status?.containerStatuses?.find(({ name }) => name === WORKER)
}

/** Whether a sidecar has downloaded model files beside the worker: unlike an init container, it still runs. */
export function hasDownloads({ status }: Pod): boolean {
  return (status?.initContainerStatuses ?? []).some(
    ({ name, ready, state }) => name.startsWith(CHECK_PREFIX) && ready === true && state?.terminated === undefined,
  )
}

/**
 * Duration of each phase of a ready worker's start, in whole seconds as in Kubernetes timestamps: until it had a node, until its init
 * containers ended, until its image was pulled and its container ran, until it was ready. Null if a timestamp is missing.
 */
export function startPhases({ metadata, status }: Pod, downloadSeconds?: number): StartPhases | null {
  const since = (type: string) =>
    Date.parse(
      status?.conditions?.find((found) => found.type === type && found.status === 'True')?.lastTransitionTime ?? '',
    )
  const container = workerOf(status)
  const times = [
    Date.parse(metadata.creationTimestamp ?? ''),
    since('PodScheduled'),
    since('Initialized'),
    Date.parse(container?.state?.running?.startedAt ?? ''),
    since('Ready'),
  ]
  if (times.some(Number.isNaN)) return null
  const [scheduling, initialization, image, warmup] = times
    .slice(1)
    .map((time, i) => Math.max(0, Math.round((time - times[i]) / 1000)))
  const download = downloadSeconds === undefined ? {} : { download: Math.round(downloadSeconds) }
  return { scheduling, initialization, image, warmup, ...download }
}

/** The workers in the pods, by name, by the reports that name the UID of their pod. */
export function liveWorkers(
  pods: readonly Pick<Pod, 'metadata'>[],
  reports: ReadonlyMap<string, WorkerReport>,
): Map<string, LiveWorker> {
  return new Map(
    pods.flatMap(({ metadata: { name, uid = '' } }) => {
      const report = reports.get(reportName(name, uid))
      if (report === undefined) return []
      const { state, fence, jobs, idleSince, downloadSeconds, sick } = report
      const details = { ...(downloadSeconds !== undefined && { downloadSeconds }), ...(sick && { sick }) }
      return [[name, { state, fence, jobs, idleSince, ...details }]]
    }),
  )
}
