import { createHash } from 'node:crypto'
import { ENGINE_LABEL, type Job, MAX_AT_ONCE, type Node, outcomeOf, renderPrefetchJob } from '../engine/prefetch.ts'
import { CONFINED } from '../engine/volume.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import { WORKER } from '../worker-pool/pods.ts'
import type { WorkerPool } from '../worker-pool/resource.ts'
import { followsPods, type PlacedSpec, selectsNode } from './placement.ts'

/** The pool that a Job brings the worker image for. */
export const PREFETCH_LABEL = 'drape.dev/prefetch'

export interface PrefetchPlan {
  /** Nodes that are to have the image and have no Job yet, by the names of their Jobs: as many as may be tried now, in this order. */
  readonly next: ReadonlyMap<string, Node>
  /** How many of them may get a Job now. */
  readonly room: number
  /** Names of Jobs to delete: their node or their image is no longer that of a worker. */
  readonly remove: readonly string[]
  /** Nodes that have a Job or are to get one, those whose Job is done, and the Jobs that failed. */
  readonly wanted: number
  readonly loaded: number
  readonly failed: readonly string[]
}

/**
 * Which nodes are to have the image of a pool's workers before a worker needs it: as many as the pool can have workers, those with a Job first.
 * A Job that is done is the record of it. Pools with the same image share the Jobs.
 */
export function planPrefetch({
  pool,
  spec,
  maxNodes,
  nodes,
  jobs,
}: {
  pool: WorkerPool
  /** Of the pods of the pool. */
  spec: PlacedSpec
  maxNodes: number
  /** Without those that have turned out to be unable to run a worker. */
  nodes: readonly Node[]
  /** Of the namespace. */
  jobs: readonly Job[]
}): PrefetchPlan {
  const present = new Map(jobs.map((job) => [job.metadata.name, job]))
  const isWanted = pool.spec.prefetch.enabled && !followsPods(spec) && imageOf(spec).imagePullPolicy !== 'Never'
  const candidates = isWanted ? nodes.filter((node) => isUp(node) && selectsNode(spec, node)) : []
  const named = candidates.map((node) => [jobName(spec, node), node] as const)
  const isOwn = (name: string) => present.get(name)?.metadata.labels?.[PREFETCH_LABEL] === pool.metadata.name
  const started = named
    .filter(([name]) => present.has(name))
    .sort(([a], [b]) => Number(isOwn(b)) - Number(isOwn(a)) || (a < b ? -1 : 1))
    .slice(0, maxNodes)
  const outcomes = started.map(([name]) => outcomeOf(present.get(name)))
  const missing = named.filter(([name]) => !present.has(name))
  const keep = new Set(started.map(([name]) => name))
  const room = Math.min(
    maxNodes - started.length,
    MAX_AT_ONCE - outcomes.filter((outcome) => outcome === 'running').length,
  )
  return {
    next: new Map(missing),
    room: Math.max(0, room),
    remove: jobs.map(({ metadata }) => metadata.name).filter((name) => isOwn(name) && !keep.has(name)),
    wanted: Math.min(maxNodes, named.length),
    loaded: outcomes.filter((outcome) => outcome === 'done').length,
    failed: started.map(([name]) => name).filter((name) => outcomeOf(present.get(name)) === 'failed'),
  }
}

/** The Job that has a node pull the image: a container of that image that ends at once. */
export function renderImageJob({
  name,
  pool,
  spec,
  node,
}: {
  name: string
  pool: WorkerPool
  spec: PlacedSpec
  node: KubernetesObject
}) {
  const { image, imagePullPolicy } = imageOf(spec)
  const { imagePullSecrets, serviceAccountName, tolerations } = spec
  return renderPrefetchJob({
    ...{ name, owner: pool, node },
    // Jobs with the label of an engine are watched; this one brings the files of none.
    labels: { [PREFETCH_LABEL]: pool.metadata.name, [ENGINE_LABEL]: '' },
    pod: {
      ...{ imagePullSecrets, tolerations },
      ...(serviceAccountName !== undefined && { serviceAccountName }),
      containers: [
        {
          ...{ name: 'pull', image, imagePullPolicy, command: ['node', '--version'] },
          resources: { requests: { cpu: '10m', memory: '16Mi' } },
          securityContext: CONFINED,
        },
      ],
    },
  })
}

function imageOf({ containers }: PlacedSpec) {
  const worker = containers.find(({ name }) => name === WORKER)
  return { image: worker?.image ?? '', imagePullPolicy: worker?.imagePullPolicy }
}

function isUp({ metadata, spec }: Node): boolean {
  return !spec?.unschedulable && metadata.deletionTimestamp === undefined
}

/** Another one for each node, image and way to pull it. */
function jobName(spec: PlacedSpec, { metadata: { name, uid } }: Node): string {
  const about = [name, uid, imageOf(spec), spec.imagePullSecrets, spec.serviceAccountName]
  return `prefetch-image-${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16)}`
}
