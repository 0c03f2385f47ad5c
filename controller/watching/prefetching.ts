import { ENGINE_LABEL, JOBS, type Job, NODES, type Node, PREFETCH_JOBS } from '../engine/prefetch.ts'
import { PREFETCH_LABEL } from '../image-prefetch/plan.ts'
import { isSickTaint, type Taint } from '../node-taint/taint.ts'
import { keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { isEndingCondition, isEndingTaint, noticesOf } from '../worker-pool/interruption.ts'
import { isAcceleratorProblem, type NodeCondition } from '../worker-pool/node-problems.ts'
import type { EngineSettings } from './pools.ts'
import type { ReconcileQueues, WatchKind } from './watch-kind.ts'

/** A kind without news from the API server for this long counts as unknown. */
const UNKNOWN_MS = 300_000

/** Watches nodes, and the Jobs that prefetch files and images to them. */
export function watchPrefetching(
  watch: WatchKind,
  {
    enqueue,
    mayWatchNodes,
    engines: engineObjects,
    onNotice,
  }: {
    enqueue: ReconcileQueues
    mayWatchNodes: boolean
    engines: Watched<EngineSettings>
    /** Called when a node is to end, and when it is not to end any more. */
    onNotice: (node: string) => void
  },
) {
  const jobs = watch<Job>(
    JOBS,
    ({ metadata: { namespace, labels } }) => {
      const { [ENGINE_LABEL]: engine, [PREFETCH_LABEL]: pool } = labels ?? {}
      if (engine) enqueue.engine(keyOf({ namespace, name: engine }))
      if (pool) enqueue.image(keyOf({ namespace, name: pool }))
    },
    {
      labelSelector: PREFETCH_JOBS,
      keep: ({ metadata, status }) => ({ metadata, status: { conditions: status?.conditions } }),
    },
  )
  const enqueuePrefetching = () => {
    for (const { metadata, spec } of engineObjects.list()) if (spec?.prefetch?.enabled) enqueue.engine(keyOf(metadata))
  }
  const tainted = new Set<string>()
  const notices = new Map<string, string>()
  const noteNode = (node: Node) => {
    const { metadata, spec } = node
    const key = keyOf(metadata)
    const notice = nodes?.get(key) ? noticesOf(node) : ''
    if (notice !== (notices.get(key) ?? '')) onNotice(metadata.name)
    if (notice === '') notices.delete(key)
    else notices.set(key, notice)
    if (spec?.taints?.some(isSickTaint) && nodes?.get(key)) tainted.add(key)
    else tainted.delete(key)
    enqueue.node(key)
    enqueuePrefetching()
  }
  // Nodes report often; only changes of fields that affect selection count.
  const watchNodes = () =>
    watch<Node>(NODES, noteNode, {
      keep: ({ metadata: { name, uid, labels, resourceVersion, deletionTimestamp }, spec, status }) => ({
        metadata: { name, uid, labels, resourceVersion, deletionTimestamp },
        spec: { unschedulable: spec?.unschedulable, taints: spec?.taints?.filter(isWatchedTaint) },
        status: { conditions: status?.conditions?.filter(isWatchedCondition) },
      }),
    })
  const nodes: Watched<Node> | null = mayWatchNodes ? watchNodes() : null
  // If the controller may not read these kinds, only the features that need them are disabled.
  const listed = new Set<unknown>()
  for (const watched of nodes ? [jobs, nodes] : [jobs]) watched.synced.then(() => listed.add(watched))
  const ifKnown = <T>(watched: Watched<T>) =>
    listed.has(watched) && watched.ageMs() < UNKNOWN_MS ? watched.list() : null
  return {
    jobs,
    nodes,
    /** Keys of the nodes that have the taint of a failing accelerator. */
    listTainted: (): readonly string[] => [...tainted],
    /** Null while they cannot be read. */
    findJobs: () => ifKnown(jobs),
    findNodes: () => nodes && ifKnown(nodes),
    findNode: (name: string) => nodes?.get(keyOf({ name })),
  }
}

function isWatchedTaint(taint: Taint): boolean {
  return isSickTaint(taint) || isEndingTaint(taint)
}

function isWatchedCondition(condition: NodeCondition): boolean {
  return isAcceleratorProblem(condition) || isEndingCondition(condition)
}
