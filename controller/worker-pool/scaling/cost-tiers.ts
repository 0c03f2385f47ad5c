import type { KubernetesObject } from '../../runtime/resource.ts'
import type { WorkerPool } from '../resource.ts'
import type { Tier } from '../template/template-schema.ts'

/** The fields of a pod that the cost depends on. */
interface PlacedPod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string }
}

/** Weights of the tiers, highest preference first. */
const WEIGHTS = [100, 75, 50, 25]

/** The tiers of a pool in order of preference; a single tier if the pool lists none. */
function tiersOf({ spec: { tiers, capacity } }: WorkerPool): readonly Tier[] {
  return tiers ?? [{ name: capacity.type, ...capacity, tolerations: [] }]
}

/** Max cost of a worker per hour: the node of the next worker is unknown in advance. */
export function highestCost(pool: WorkerPool): number {
  return Math.max(...tiersOf(pool).map(({ hourlyCost }) => hourlyCost))
}

/** Number of workers that an hourly amount pays for. Floating-point errors must not cost a worker if it divides evenly. */
export function affordable(hourly: number, hourlyCost: number): number {
  return Math.max(0, Math.floor(hourly / hourlyCost + 1e-9))
}

/** Terms of a node affinity that restrict pods to nodes of the tiers, none without a restriction, and that prefer earlier tiers. */
export function nodeAffinity(tiers: readonly Tier[]) {
  const terms = tiers.map(({ nodeSelector }) => ({
    matchExpressions: Object.entries(nodeSelector).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
  }))
  const bound = terms.every(({ matchExpressions }) => matchExpressions.length > 0)
  const preferred = terms
    .map((preference, i) => ({ weight: WEIGHTS[i], preference }))
    .filter(({ preference }) => preference.matchExpressions.length > 0)
  return { required: bound ? terms : [], preferred }
}

/**
 * Number of staying pods per tier, and their total cost per hour. A pod without a node costs nothing; a pod whose node is unknown or
 * matches no tier counts for the most expensive tier.
 */
export function countTiers(
  pool: WorkerPool,
  pods: readonly PlacedPod[],
  findNode: (name: string) => KubernetesObject | undefined,
): { readonly tiers: readonly { readonly name: string; readonly replicas: number }[]; readonly hourlyCost: number } {
  const tiers = tiersOf(pool)
  const dearest = tiers.reduce((a, b) => (b.hourlyCost > a.hourlyCost ? b : a))
  const placed = ({ metadata, spec }: PlacedPod) =>
    metadata.deletionTimestamp === undefined && spec?.nodeName !== undefined
  const staying = pods.filter(placed)
  const found = staying.map(({ spec }) => {
    const labels = spec?.nodeName === undefined ? undefined : findNode(spec.nodeName)?.metadata.labels
    return tiers.find((tier) => labels && selects(tier, labels)) ?? dearest
  })
  return {
    tiers: tiers.map((tier) => ({ name: tier.name, replicas: found.filter((each) => each === tier).length })),
    hourlyCost: Math.round(found.reduce((sum, { hourlyCost }) => sum + hourlyCost, 0) * 10_000) / 10_000,
  }
}

function selects({ nodeSelector }: Tier, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(nodeSelector).every(([label, value]) => labels[label] === value)
}
