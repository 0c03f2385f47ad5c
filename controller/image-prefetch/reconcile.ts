import { JOBS, type Job, NODES, type Node } from '../engine/prefetch.ts'
import type { Client } from '../runtime/client.ts'
import type { Finding } from '../runtime/conditions.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { findRules } from '../worker-pool/configuration.ts'
import { renderTemplate } from '../worker-pool/replica-set.ts'
import { type WorkerPool, workerPools } from '../worker-pool/resource.ts'
import { canRun, type FullNode, type PlacedSpec, readPlacedSpec } from './placement.ts'
import { PREFETCH_LABEL, type PrefetchPlan, planPrefetch, renderImageJob } from './plan.ts'

export interface PrefetchParts {
  readonly client: Pick<Client, 'get' | 'apply' | 'delete'>
  readonly pools: Pick<Watched<KubernetesObject>, 'get'>
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  /** Null while Jobs cannot be read. */
  readonly findJobs: () => readonly Job[] | null
  readonly findNodes: () => readonly Node[] | null
  readonly now: () => Date
  /** Called with the key of a pool when its prefetch state changes. */
  readonly onChange: (key: string) => void
}

/** Interval while Jobs run or nodes remain to be tried, and interval otherwise. */
const BUSY_MS = 2000
const REST_MS = 60_000
/** A node that cannot run a worker is not checked again for this long. */
const UNSUITABLE_MS = 300_000
/** Max nodes to check per pass. */
const MAX_CHECKED_NODES = 20

/** Prefetches the image of a pool's workers to nodes, and reports the progress for the pool's status. */
export function createImagePrefetch({ client, pools, policies, findJobs, findNodes, now, onChange }: PrefetchParts) {
  const findings = new Map<string, Finding>()
  /** Nodes that cannot run a pool's workers, by pool, with the expiry of that finding. */
  const unsuitable = new Map<string, Map<string, number>>()

  async function reconcile(key: string): Promise<Done | undefined> {
    const found = pools.get(key)
    const read = found && found.metadata.deletionTimestamp === undefined ? workerPools.read(found) : null
    if (read === null || 'problems' in read) {
      findings.delete(key)
      unsuitable.delete(key)
      return undefined
    }
    const pool = read.object
    const spec = readPlacedSpec(renderTemplate(pool, []).spec)
    const [nodes, jobs] = [findNodes(), findJobs()]
    if (nodes === null || jobs === null || spec === null) {
      note(key, null)
      return { againMs: REST_MS }
    }
    const refused = forgetOld(unsuitable.get(key))
    unsuitable.set(key, refused)
    const plan = planPrefetch({
      pool,
      spec,
      maxNodes: maxWorkers(pool),
      nodes: nodes.filter(({ metadata }) => !refused.has(metadata.uid ?? '')),
      jobs: jobs.filter(({ metadata }) => metadata.namespace === pool.metadata.namespace && isOfImages(metadata)),
    })
    const made = await carryOut(pool, spec, plan, refused)
    note(key, pool.spec.prefetch.enabled ? findingOf(plan) : null)
    const isBusy = made > 0 || plan.loaded + plan.failed.length < plan.wanted
    return { againMs: isBusy ? BUSY_MS : REST_MS }
  }

  /** Resolves to the number of created Jobs. */
  async function carryOut(
    pool: WorkerPool,
    spec: PlacedSpec,
    { next, room, remove }: PrefetchPlan,
    refused: Map<string, number>,
  ): Promise<number> {
    const { namespace } = pool.metadata
    for (const name of remove) await client.delete(JOBS, { namespace, name })
    let made = 0
    for (const [name, node] of [...next].slice(0, room > 0 ? MAX_CHECKED_NODES : 0)) {
      if (made === room) break
      const full = await client.get<FullNode>(NODES, { name: node.metadata.name })
      if (full !== null && canRun(spec, full)) {
        await client.apply(JOBS, renderImageJob({ name, pool, spec, node }))
        made++
      } else refused.set(node.metadata.uid ?? '', now().getTime() + UNSUITABLE_MS)
    }
    return made
  }

  function forgetOld(before: ReadonlyMap<string, number> = new Map()): Map<string, number> {
    return new Map([...before].filter(([, until]) => until > now().getTime()))
  }

  /** Max workers that the pool can ever have by its policy. */
  function maxWorkers(pool: WorkerPool): number {
    const found = findRules(pool, policies)
    return 'rules' in found ? found.rules.bounds.max : 'fixed' in found ? found.fixed : 0
  }

  function note(key: string, finding: Finding | null): void {
    const before = findings.get(key)
    if (finding === null) findings.delete(key)
    else findings.set(key, finding)
    if (before?.message !== finding?.message || before?.reason !== finding?.reason) onChange(key)
  }

  return {
    reconcile,
    /** The ImagePrefetched condition of a pool; null if prefetch is disabled. */
    find: (pool: WorkerPool): Finding | null => findings.get(keyOf(pool.metadata)) ?? null,
  }
}

function isOfImages({ labels }: KubernetesObject['metadata']): boolean {
  return labels?.[PREFETCH_LABEL] !== undefined
}

function findingOf({ wanted, loaded, failed }: PrefetchPlan): Finding {
  const summary = `${loaded} of ${wanted} nodes have the image.`
  const isDone = loaded === wanted
  return {
    type: 'ImagePrefetched',
    status: isDone ? 'True' : 'False',
    reason: isDone ? 'OnAllNodes' : failed.length > 0 ? 'Failed' : 'Loading',
    message: failed.length > 0 ? `${summary} Failed: ${failed.join(', ')}.` : summary,
  }
}
