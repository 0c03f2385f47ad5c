import { isSickTaint, NODES, type Node, type Taint } from '../node-taint/taint.ts'
import { keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { isEndingCondition, isEndingTaint, noticesOf } from '../worker-pool/interruption.ts'
import { isAcceleratorProblem, type NodeCondition } from '../worker-pool/node-problems.ts'
import type { ReconcileQueues, WatchKind } from './watch-kind.ts'

/** Watches nodes, if the controller may read them. */
export function watchNodes(
  watch: WatchKind,
  {
    enqueue,
    mayWatchNodes,
    onNotice,
  }: {
    enqueue: Pick<ReconcileQueues, 'node'>
    mayWatchNodes: boolean
    /** Called when a node is to end, and when it is not to end any more. */
    onNotice: (node: string) => void
  },
) {
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
  }
  // Nodes report often; only changes of these fields count.
  const watchAll = () =>
    watch<Node>(NODES, noteNode, {
      keep: ({ metadata: { name, uid, labels, resourceVersion, deletionTimestamp }, spec, status }) => ({
        metadata: { name, uid, labels, resourceVersion, deletionTimestamp },
        spec: { unschedulable: spec?.unschedulable, taints: spec?.taints?.filter(isWatchedTaint) },
        status: { conditions: status?.conditions?.filter(isWatchedCondition) },
      }),
    })
  const nodes: Watched<Node> | null = mayWatchNodes ? watchAll() : null
  return {
    nodes,
    /** Keys of the nodes that have the taint of a failing accelerator. */
    listTainted: (): readonly string[] => [...tainted],
    findNode: (name: string) => nodes?.get(keyOf({ name })),
  }
}

function isWatchedTaint(taint: Taint): boolean {
  return isSickTaint(taint) || isEndingTaint(taint)
}

function isWatchedCondition(condition: NodeCondition): boolean {
  return isAcceleratorProblem(condition) || isEndingCondition(condition)
}
