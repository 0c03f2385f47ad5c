import { AVOIDS_SICK, type Pod, readPod, SICK_LABEL, SICK_VALUES, WORKER_LABELS } from './pods.ts'
import type { SickWorkers } from './sick-workers.ts'

type Affinity = Readonly<Record<string, unknown>>

/** The scheduler places a pod on no node with a pod that matches. */
const NO_AVOIDED_NODE = {
  labelSelector: {
    matchLabels: WORKER_LABELS,
    matchExpressions: [{ key: SICK_LABEL, operator: 'In', values: [SICK_VALUES.nodeAvoided] }],
  },
  topologyKey: 'kubernetes.io/hostname',
}

/**
 * Whether new workers must not be placed on avoided nodes with sick workers: while a worker of the pool works on another node.
 * Otherwise a failing device would be better than no worker. Node autoscalers understand an anti-affinity, but create no node for a pod
 * whose affinity excludes nodes by name.
 */
export function avoidsSickNodes(
  pods: readonly Pod[],
  { held, replaced }: Pick<SickWorkers, 'held' | 'replaced'>,
): boolean {
  const isHeld = ({ metadata: { name } }: Pod) => held.has(name)
  const avoided = new Set(pods.filter(isHeld).flatMap(({ spec }) => spec?.nodeName ?? []))
  const works = (pod: Pod) => {
    const { name, ready, deleting } = readPod(pod)
    return ready && !deleting && !held.has(name) && !replaced.has(name) && !avoided.has(pod.spec?.nodeName ?? '')
  }
  return avoided.size > 0 && pods.some(works)
}

/** Pods that wait for a node with the hint, which keeps them from nodes that new workers do not avoid any more. */
export function findWaitingForHint(
  pods: readonly Pod[],
  { held, replaced }: Pick<SickWorkers, 'held' | 'replaced'>,
): readonly string[] {
  if (held.size + replaced.size === 0) return []
  return pods.flatMap(({ metadata: { name, annotations, deletionTimestamp }, spec, status }) => {
    const isWaiting = status?.phase === 'Pending' && spec?.nodeName === undefined && !spec?.schedulingGates
    return isWaiting && deletionTimestamp === undefined && annotations?.[AVOIDS_SICK] !== undefined ? [name] : []
  })
}

interface Template {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
  readonly spec: { readonly affinity?: unknown }
}

/** The pod template with the hint beside what a patch may have set. */
export function withNodeHint<T extends Template>(template: T): T {
  const { metadata, spec } = template
  const affinity = objectOf(spec.affinity)
  const podAntiAffinity = objectOf(affinity.podAntiAffinity)
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = podAntiAffinity
  const terms = [...(Array.isArray(required) ? required : []), NO_AVOIDED_NODE]
  return {
    ...template,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [AVOIDS_SICK]: 'true' } },
    spec: {
      ...spec,
      affinity: {
        ...affinity,
        podAntiAffinity: { ...podAntiAffinity, requiredDuringSchedulingIgnoredDuringExecution: terms },
      },
    },
  }
}

function objectOf(value: unknown): Affinity {
  return typeof value === 'object' && value !== null ? (value as Affinity) : {}
}
