import type { KubernetesObject } from '../runtime/resource.ts'
import type { WorkerPool } from './resource.ts'
import type { Tier } from './template-schema.ts'

/** A pod as far as it counts here. */
interface PlacedPod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string }
}

/** The first tier is preferred most; two neighbours differ by this weight. */
const WEIGHTS = [100, 75, 50, 25]

/** The kinds of nodes of a pool, in the order in which they are preferred; one where it names none. */
function tiersOf({ spec: { tiers, capacity } }: WorkerPool): readonly Tier[] {
  return tiers ?? [{ name: capacity.type, ...capacity, tolerations: [] }]
}

/** What a worker may cost an hour at most: the node of the next one is unknown beforehand. */
export function highestCost(pool: WorkerPool): number {
  return Math.max(...tiersOf(pool).map(({ hourlyCost }) => hourlyCost))
}

/** Lets pods only on nodes of one of the tiers, and rather on those of an earlier one; undefined where all nodes are as good. */
export function nodeAffinity(tiers: readonly Tier[]) {
  const terms = tiers.map(({ nodeSelector }) => ({
    matchExpressions: Object.entries(nodeSelector).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
  }))
  const bound = terms.every(({ matchExpressions }) => matchExpressions.length > 0)
  const preferred = terms
    .map((preference, i) => ({ weight: WEIGHTS[i], preference }))
    .filter(({ preference }) => preference.matchExpressions.length > 0)
  if (preferred.length === 0) return undefined
  return {
    ...(bound && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }),
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  }
}

/**
 * How many of the pods that stay are on nodes of each tier, and what they cost an hour together. A pod without a node costs nothing;
 * one whose node is not known, or is of no tier, counts for the tier that costs most.
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
