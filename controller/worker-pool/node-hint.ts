import { type Pod, readPod, SICK_LABEL, WORKER_LABELS } from './pods.ts'
import type { SickWorkers } from './sick-workers.ts'

type Affinity = Readonly<Record<string, unknown>>

/** The scheduler places a pod on no node with a pod that matches. */
const NO_SICK_WORKER = {
  labelSelector: {
    matchLabels: WORKER_LABELS,
    matchExpressions: [{ key: SICK_LABEL, operator: 'Exists' }],
  },
  topologyKey: 'kubernetes.io/hostname',
}

/**
 * Whether new workers must not be placed beside sick ones: while a worker of the pool works on another node. Otherwise a failing
 * device would be better than no worker. Node autoscalers understand an anti-affinity, but create no node for a pod whose affinity
 * excludes nodes by name.
 */
export function avoidsSickNodes(
  pods: readonly Pod[],
  { held, replaced }: Pick<SickWorkers, 'held' | 'replaced'>,
): boolean {
  const isSick = ({ metadata: { name } }: Pod) => held.has(name) || replaced.has(name)
  const sickNodes = new Set(pods.filter(isSick).flatMap(({ spec }) => spec?.nodeName ?? []))
  const works = (pod: Pod) => {
    const { ready, deleting } = readPod(pod)
    return ready && !deleting && !isSick(pod) && !sickNodes.has(pod.spec?.nodeName ?? '')
  }
  return sickNodes.size > 0 && pods.some(works)
}

/** The pod spec with the hint beside what a patch may have set. */
export function withNodeHint<T extends { readonly affinity?: unknown }>(spec: T): T {
  const affinity = objectOf(spec.affinity)
  const podAntiAffinity = objectOf(affinity.podAntiAffinity)
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = podAntiAffinity
  const terms = [...(Array.isArray(required) ? required : []), NO_SICK_WORKER]
  return {
    ...spec,
    affinity: {
      ...affinity,
      podAntiAffinity: { ...podAntiAffinity, requiredDuringSchedulingIgnoredDuringExecution: terms },
    },
  }
}

function objectOf(value: unknown): Affinity {
  return typeof value === 'object' && value !== null ? (value as Affinity) : {}
}
