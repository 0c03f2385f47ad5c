import { createHash } from 'node:crypto'
import type { Taint } from '../node-taint/taint.ts'
import { type KubernetesObject, ownedBy, type ResourceType } from '../runtime/resource.ts'
import type { NodeCondition } from '../worker-pool/node-problems.ts'
import type { WorkerPool } from '../worker-pool/resource.ts'
import type { Engine } from './resource.ts'
import { engineVolume } from './volume.ts'

export const JOBS: ResourceType = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true }
export const NODES: ResourceType = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }
const NAME_LABEL = 'app.kubernetes.io/name'
const NAME = 'drape-prefetch'
/** Selects all prefetch Jobs, of model files and of images. */
export const PREFETCH_JOBS = `${NAME_LABEL}=${NAME}`
/** Label with the engine whose files a Job downloads. */
export const ENGINE_LABEL = 'drape.dev/engine'
const NODE_ANNOTATION = 'drape.dev/node'
/** Max number of nodes that pull concurrently: each pull of a large image is a load on the registry. */
export const MAX_CONCURRENT = 10
const TRIES = 3
const MAX_SECONDS = 3600
const NONROOT_UID = 65532
/** The name of a Job is a label of its pods; labels have at most 63 characters. */
const NAME_IN_JOB = 43

/** The fields of a node that the controller reads. */
export interface Node extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly NodeCondition[] }
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] }
}

/** The fields of a Job that the controller reads. */
export interface Job extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Prefetch progress of an engine on the selected nodes. */
export interface Prefetch {
  /** Jobs to create now. */
  readonly make: readonly ReturnType<typeof renderJob>[]
  /** Names of Jobs to delete: their node was deleted, or their image is outdated. */
  readonly remove: readonly string[]
  /** Number of selected nodes, of nodes that have the files, and of nodes where the prefetch failed. */
  readonly wanted: number
  readonly loaded: number
  readonly failed: readonly string[]
}

/**
 * Plans the Jobs that pull the engine's image and verify its files on every selected node. A finished Job is the record of its
 * success. A failed Job is kept for inspection, and created again after an operator deletes it.
 */
export function planPrefetch({
  engine,
  pool,
  nodes,
  jobs,
}: {
  engine: Engine
  /** The pool whose workers will need the files: its image runs the check, and its placement applies. */
  pool: WorkerPool
  nodes: readonly Node[]
  jobs: readonly Job[]
}): Prefetch {
  const selected = nodes.filter((node) => isSelected(node, engine.spec.prefetch.nodeSelector))
  const wanted = new Map(selected.map((node) => [jobName(engine, pool, node), node]))
  const present = new Map(jobs.map((job) => [job.metadata.name, job]))
  const outcomes = [...wanted.keys()].map((name) => outcomeOf(present.get(name)))
  const count = (outcome: ReturnType<typeof outcomeOf>) => outcomes.filter((each) => each === outcome).length
  const missing = [...wanted].filter(([name]) => !present.has(name))
  return {
    make: missing
      .slice(0, Math.max(0, MAX_CONCURRENT - count('running')))
      .map(([name, node]) => renderJob({ name, engine, pool, node })),
    remove: [...present.keys()].filter((name) => !wanted.has(name)),
    wanted: wanted.size,
    loaded: count('done'),
    failed: [...wanted.keys()].filter((name) => outcomeOf(present.get(name)) === 'failed'),
  }
}

function isSelected({ metadata, spec }: Node, selector: Readonly<Record<string, string>>): boolean {
  if (spec?.unschedulable || metadata.deletionTimestamp !== undefined) return false
  return Object.entries(selector).every(([label, value]) => metadata.labels?.[label] === value)
}

/** Outcome of a Job. */
export function outcomeOf(job: Job | undefined): 'missing' | 'running' | 'done' | 'failed' {
  if (job === undefined) return 'missing'
  const holds = (type: string) => job.status?.conditions?.some((each) => each.type === type && each.status === 'True')
  return holds('Complete') ? 'done' : holds('Failed') ? 'failed' : 'running'
}

/** Unique per engine, node, version of the source and worker image. */
function jobName({ metadata, spec }: Engine, { spec: { template } }: WorkerPool, node: Node): string {
  // The name of an engine may be longer than its part of the name.
  const engine = metadata.name.length > NAME_IN_JOB ? [metadata.name] : []
  const about = JSON.stringify([node.metadata.name, node.metadata.uid, spec.source, template.image, ...engine])
  return `prefetch-${metadata.name.slice(0, NAME_IN_JOB)}-${createHash('sha256').update(about).digest('hex').slice(0, 10)}`
}

function renderJob({ name, engine, pool, node }: { name: string; engine: Engine; pool: WorkerPool; node: Node }) {
  const { template } = pool.spec
  const files = engineVolume(engine, template)
  const [check, ...before] = [...(files?.initContainers ?? [])].reverse()
  return renderPrefetchJob({
    name,
    owner: engine,
    node,
    labels: { [ENGINE_LABEL]: engine.metadata.name },
    pod: {
      imagePullSecrets: template.imagePullSecrets.map((secret) => ({ name: secret })),
      tolerations: template.tolerations,
      ...(before.length > 0 && { initContainers: before.reverse() }),
      containers: [check],
      volumes: files ? [files.volume] : [],
    },
  })
}

/** Renders a Job whose pod runs on this node only. The pod complies with the Pod Security Standard `restricted` if its containers do. */
export function renderPrefetchJob({
  name,
  owner,
  node,
  labels,
  pod,
}: {
  name: string
  owner: KubernetesObject
  node: KubernetesObject
  labels: Readonly<Record<string, string>>
  pod: { readonly containers: readonly object[]; readonly [field: string]: unknown }
}) {
  const all = { [NAME_LABEL]: NAME, ...labels }
  return {
    metadata: {
      name,
      namespace: owner.metadata.namespace,
      labels: { ...all, 'app.kubernetes.io/managed-by': 'drape-controller' },
      annotations: { [NODE_ANNOTATION]: node.metadata.name },
      ownerReferences: [ownedBy(owner)],
    },
    spec: {
      backoffLimit: TRIES,
      activeDeadlineSeconds: MAX_SECONDS,
      template: {
        metadata: { labels: all },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: NONROOT_UID,
            runAsGroup: NONROOT_UID,
            fsGroup: NONROOT_UID,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          ...pod,
          affinity: onNode(node),
        },
      },
    },
  }
}

function onNode({ metadata }: KubernetesObject) {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [metadata.name] }]
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } }
}
