import { AVOIDS_NODES, AVOIDS_SICK, type Pod, readPod, SICK_LABEL, SICK_VALUES, WORKER_LABELS } from './pods.ts'
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

/** Where new workers must not be placed. */
export interface NodeHint {
  /** On nodes with sick workers. */
  readonly avoidsSick: boolean
  /** Names of nodes that rejected workers. */
  readonly avoidedNodes: readonly string[]
}

/** Pods that wait for a node with an earlier hint, which keeps them from nodes that new workers do not avoid any more. */
export function findWaitingForHint(
  pods: readonly Pod[],
  { held, replaced }: Pick<SickWorkers, 'held' | 'replaced'>,
  { avoidsSick, avoidedNodes }: NodeHint,
): readonly string[] {
  const areSick = held.size + replaced.size > 0
  return pods.flatMap(({ metadata: { name, annotations, deletionTimestamp }, spec, status }) => {
    const isWaiting = status?.phase === 'Pending' && spec?.nodeName === undefined && !spec?.schedulingGates
    if (!isWaiting || deletionTimestamp !== undefined) return []
    const keepsOffSick = areSick && !avoidsSick && annotations?.[AVOIDS_SICK] !== undefined
    const keepsOff = annotations?.[AVOIDS_NODES]
    return keepsOffSick || (keepsOff !== undefined && keepsOff !== namesOf(avoidedNodes)) ? [name] : []
  })
}

function namesOf(nodes: readonly string[]): string {
  return nodes.join(',')
}

interface Template {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
  readonly spec: { readonly affinity?: unknown }
}

/** The pod template with the hint beside what a patch may have set. */
export function withNodeHint<T extends Template>(template: T, { avoidsSick, avoidedNodes }: NodeHint): T {
  const withoutSick = avoidsSick ? withAffinity(template, [AVOIDS_SICK, 'true'], offSickWorkers) : template
  if (avoidedNodes.length === 0) return withoutSick
  return withAffinity(withoutSick, [AVOIDS_NODES, namesOf(avoidedNodes)], (affinity) =>
    offNodes(affinity, avoidedNodes),
  )
}

function withAffinity<T extends Template>(
  { metadata, spec, ...rest }: T,
  [annotation, value]: readonly [string, string],
  change: (affinity: Affinity) => Affinity,
) {
  return {
    ...rest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation]: value } },
    spec: { ...spec, affinity: change(objectOf(spec.affinity)) },
  } as unknown as T
}

function offSickWorkers(affinity: Affinity): Affinity {
  const podAntiAffinity = objectOf(affinity.podAntiAffinity)
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = podAntiAffinity
  const terms = [...listOf(required), NO_AVOIDED_NODE]
  return {
    ...affinity,
    podAntiAffinity: { ...podAntiAffinity, requiredDuringSchedulingIgnoredDuringExecution: terms },
  }
}

/** By name: a node label can differ from the name. A node must match one of the terms, so each excludes all nodes. */
function offNodes(affinity: Affinity, nodes: readonly string[]): Affinity {
  const nodeAffinity = objectOf(affinity.nodeAffinity)
  const required = objectOf(nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)
  const terms = listOf(required.nodeSelectorTerms).map(objectOf)
  const excluded = nodes.map((node) => ({ key: 'metadata.name', operator: 'NotIn', values: [node] }))
  const nodeSelectorTerms = (terms.length > 0 ? terms : [{}]).map((term) => ({
    ...term,
    matchFields: [...listOf(term.matchFields), ...excluded],
  }))
  return {
    ...affinity,
    nodeAffinity: {
      ...nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { ...required, nodeSelectorTerms },
    },
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function objectOf(value: unknown): Affinity {
  return typeof value === 'object' && value !== null ? (value as Affinity) : {}
}
