import { createHash } from 'node:crypto'
import { type Job, MAX_CONCURRENT, type Node, outcomeOf, renderPrefetchJob } from '../engine/prefetch.ts'
import { RESTRICTED } from '../engine/volume.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import { WORKER } from '../worker-pool/pods.ts'
import type { WorkerPool } from '../worker-pool/resource.ts'
import { followsPods, type PlacedSpec, selectsNode } from './placement.ts'

/** Label with the pool whose image a Job prefetches. */
export const PREFETCH_LABEL = 'drape.dev/prefetch'

export interface PrefetchPlan {
  /** Selected nodes without a Job, by Job name, in order of preference: at most as many as can be tried now. */
  readonly next: ReadonlyMap<string, Node>
  /** Number of these nodes that can get a Job now. */
  readonly room: number
  /** Names of Jobs to delete: their node or image is no longer used by a worker. */
  readonly remove: readonly string[]
  /** Number of nodes that have or will get a Job, of nodes whose Job is done, and of failed Jobs. */
  readonly wanted: number
  readonly loaded: number
  readonly failed: readonly string[]
}

/**
 * Selects the nodes on which to prefetch the image of a pool's workers: as many as the pool can have workers, nodes with a Job first. A
 * finished Job is the record of its success. Pools with the same image share the Jobs.
 */
export function planPrefetch({
  pool,
  spec,
  maxNodes,
  nodes,
  jobs,
}: {
  pool: WorkerPool
  /** Spec of the pool's pods. */
  spec: PlacedSpec
  maxNodes: number
  /** Excludes nodes that cannot run a worker. */
  nodes: readonly Node[]
  /** Jobs of the namespace. */
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
    MAX_CONCURRENT - outcomes.filter((outcome) => outcome === 'running').length,
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

/** Renders the Job that pulls the image on a node: a container of that image that exits immediately. */
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
    name,
    owner: pool,
    node,
    labels: { [PREFETCH_LABEL]: pool.metadata.name },
    pod: {
      imagePullSecrets,
      tolerations,
      ...(serviceAccountName !== undefined && { serviceAccountName }),
      containers: [
        {
          name: 'pull',
          image,
          imagePullPolicy,
          command: ['node', '--version'],
          resources: { requests: { cpu: '10m', memory: '16Mi' } },
          securityContext: RESTRICTED,
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

/** Unique per node, image and pull settings. */
function jobName(spec: PlacedSpec, { metadata: { name, uid } }: Node): string {
  const about = [name, uid, imageOf(spec), spec.imagePullSecrets, spec.serviceAccountName]
  return `prefetch-image-${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16)}`
}
