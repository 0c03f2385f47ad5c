import type { KubernetesObject, ResourceType } from '../../runtime/resource.ts'

export const NODES: ResourceType = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export interface NodeCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** The fields of a node that the controller reads. */
export interface Node extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly NodeCondition[] }
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] }
}
