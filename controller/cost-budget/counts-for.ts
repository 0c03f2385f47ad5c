import type { KubernetesObject } from '../runtime/resource.ts'
import type { CostBudget } from './resource.ts'

/** Whether a pool counts for a budget: it is in the budget's namespace and runs one of the budget's engines, if the budget lists any. */
export function countsFor(
  { metadata: { namespace }, spec: { engines } }: CostBudget,
  pool: KubernetesObject & { readonly spec?: { readonly engines?: readonly string[] } },
): boolean {
  if (pool.metadata.namespace !== namespace) return false
  return engines.length === 0 || (pool.spec?.engines ?? []).some((engine) => engines.includes(engine))
}
