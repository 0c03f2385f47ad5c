import type { KubernetesObject, ResourceType } from '../runtime/resource.ts'
import type { NodeCondition } from '../worker-pool/node-problems.ts'

export const NODES: ResourceType = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** The fields of a node that the controller reads. */
export interface Node extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly NodeCondition[] }
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] }
}

/** The taint of a node whose accelerators keep failing. Running pods stay. */
export const TAINT: Taint = { key: 'drape.dev/failing-accelerator', effect: 'NoSchedule' }

export function isSickTaint({ key, effect }: Taint): boolean {
  return key === TAINT.key && effect === TAINT.effect
}
