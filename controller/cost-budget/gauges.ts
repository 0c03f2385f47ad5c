import type { Metrics } from '../../api/shared/telemetry/metrics.ts'

/** Cost of the pools of a budget and its cap, per hour, in the unit of hourlyCost. */
export interface BudgetCost {
  readonly hourlyCost: number
  readonly hourlyCap: number
}

export interface BudgetGauges {
  note(key: string, cost: BudgetCost): void
  forget(key: string): void
  /** Removes all series when another process becomes the leader. */
  forgetAll(): void
}

/** Metrics of cost and cap of budgets. The budget label is `namespace/name`. */
export function createBudgetGauges({ watch }: Pick<Metrics, 'watch'>): BudgetGauges {
  const costs = new Map<string, BudgetCost>()
  const read = (field: keyof BudgetCost) => () =>
    [...costs].map(([budget, cost]) => ({ labels: { budget }, value: cost[field] }))
  const about = { labels: ['budget'] }
  watch(
    { name: 'drape_budget_hourly_cost', help: 'Cost of the workers of all pools of a cost budget per hour', ...about },
    read('hourlyCost'),
  )
  watch({ name: 'drape_budget_hourly_cap', help: 'Max cost per hour of a cost budget', ...about }, read('hourlyCap'))
  return {
    note: (key, cost) => void costs.set(key, cost),
    forget: (key) => void costs.delete(key),
    forgetAll: () => costs.clear(),
  }
}
