import { keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { isEndingCondition, isEndingTaint, noticesOf } from '../worker-pool/workers/ending-nodes.ts'
import { NODES, type Node, type NodeCondition } from '../worker-pool/workers/node.ts'
import { isAcceleratorProblem } from '../worker-pool/workers/node-problems.ts'
import type { WatchKind } from './watch-kind.ts'

/** Watches nodes, if the controller may read them. */
export function watchNodes(
  watch: WatchKind,
  {
    mayWatchNodes,
    onNotice,
  }: {
    mayWatchNodes: boolean
    /** Called when a node is to end, and when it is not to end any more. */
    onNotice: (node: string) => void
  },
) {
  const notices = new Map<string, string>()
  const noteNode = (node: Node) => {
    const { metadata } = node
    const key = keyOf(metadata)
    const notice = nodes?.get(key) ? noticesOf(node) : ''
    if (notice !== (notices.get(key) ?? '')) onNotice(metadata.name)
    if (notice === '') notices.delete(key)
    else notices.set(key, notice)
  }
  // Nodes report often; only changes of these fields count.
  const watchAll = () =>
    watch<Node>(NODES, noteNode, {
      keep: ({ metadata: { name, uid, labels, resourceVersion, deletionTimestamp }, spec, status }) => ({
        metadata: { name, uid, labels, resourceVersion, deletionTimestamp },
        spec: { unschedulable: spec?.unschedulable, taints: spec?.taints?.filter(isEndingTaint) },
        status: { conditions: status?.conditions?.filter(isWatchedCondition) },
      }),
    })
  const nodes: Watched<Node> | null = mayWatchNodes ? watchAll() : null
  return {
    nodes,
    findNode: (name: string) => nodes?.get(keyOf({ name })),
  }
}

function isWatchedCondition(condition: NodeCondition): boolean {
  return isAcceleratorProblem(condition) || isEndingCondition(condition)
}
