import type { KubernetesObject } from '../../runtime/resource.ts'
import type { Node, NodeCondition } from './node.ts'

/** A node condition that reports a failing accelerator. */
export interface NodeProblem {
  readonly type: string
  readonly message: string
}

/**
 * Finds an accelerator failure in the conditions of a node, as set by monitors that read DCGM or the driver's log:
 * `GpuMemWatch=True` (NVSentinel), `AcceleratedHardwareReady=False` (EKS), `GPUUnhealthy=True` or `XidError=True`
 * (node-problem-detector). Null if no condition reports a failure.
 */
export function findNodeProblem(node: KubernetesObject | undefined): NodeProblem | null {
  const conditions = (node as Node | undefined)?.status?.conditions ?? []
  const problem = conditions.find(isAcceleratorProblem)
  return problem ? { type: problem.type, message: problem.message ?? '' } : null
}

/** Whether the condition reports a failing accelerator. */
export function isAcceleratorProblem({ type, status }: NodeCondition): boolean {
  if (!ACCELERATOR.test(type)) return false
  return status === (GOOD_WHEN_TRUE.test(type) ? 'False' : 'True')
}

const ACCELERATOR = /gpu|accelerat|nvidia|dcgm|nvlink|xid/i
const GOOD_WHEN_TRUE = /(ready|(?<!un)healthy|(?<!un)available|ok)$/i
