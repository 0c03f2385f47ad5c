import type { KubernetesObject } from '../runtime/resource.ts'

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export interface TaintedNode extends KubernetesObject {
  readonly spec?: { readonly taints?: readonly Taint[] }
}

/** The taint of a node whose accelerators keep failing. Running pods stay. */
export const TAINT: Taint = { key: 'drape.dev/failing-accelerator', effect: 'NoSchedule' }

export function isSickTaint({ key, effect }: Taint): boolean {
  return key === TAINT.key && effect === TAINT.effect
}
