import type { Engine } from '../../engine/resource.ts'
import type { WorkerPool } from '../resource.ts'

const GPU = 'nvidia.com/gpu'
/** Label of a node that NVIDIA's GPU feature discovery sets: MiB of each GPU. */
const MEMORY_LABEL = 'nvidia.com/gpu.memory'

interface Term {
  readonly matchExpressions: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

/**
 * Terms of a node affinity, each split in two: nodes whose GPUs have the memory that the engines need in all slots of a worker, and
 * nodes without the label. Unchanged for pools without whole NVIDIA GPUs, and for engines whose need is unknown.
 */
export function withDeviceMemory(
  terms: readonly Term[],
  { spec: { accelerator, slotsPerReplica } }: WorkerPool,
  engines: readonly Engine[],
): readonly Term[] {
  const neededMiB = slotsPerReplica * engines.reduce((sum, { spec }) => sum + (spec.runtime.minMemoryMiB ?? 0), 0)
  if (neededMiB === 0 || accelerator?.resource !== GPU) return terms
  const suitable = [
    { key: MEMORY_LABEL, operator: 'Gt', values: [String(neededMiB - 1)] },
    { key: MEMORY_LABEL, operator: 'DoesNotExist' },
  ]
  const each = terms.length > 0 ? terms : [{ matchExpressions: [] }]
  return each.flatMap(({ matchExpressions }) =>
    suitable.map((expression) => ({ matchExpressions: [...matchExpressions, expression] })),
  )
}
