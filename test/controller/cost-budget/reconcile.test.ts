import { beforeEach, describe, expect, it } from 'vitest'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'
import { createBudgetGauges } from '../../../controller/cost-budget/gauges.ts'
import { createBudgetReconcile } from '../../../controller/cost-budget/reconcile.ts'
import type { CostBudget } from '../../../controller/cost-budget/resource.ts'
import type { Client, Sent } from '../../../controller/runtime/client.ts'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'

const NOW = new Date('2026-05-04T12:00:00Z')
const KEY = 'shop/all'

const poolOf = (name: string, engines: readonly string[], hourlyCost: number, namespace = 'shop') => ({
  metadata: { namespace, name },
  spec: { engines },
  status: { hourlyCost },
})

describe('a cost budget', () => {
  let pools: ReturnType<typeof poolOf>[]
  let budget: KubernetesObject | undefined
  let events: string[]
  let problems: string[]
  let figures: ReturnType<typeof createMetrics>
  let gauges: ReturnType<typeof createBudgetGauges>
  let reconcile: ReturnType<typeof createBudgetReconcile>

  beforeEach(() => {
    pools = [
      poolOf('warp', ['warp'], 3),
      poolOf('mixed', ['mock', 'studio'], 4),
      poolOf('mock', ['mock'], 0.5),
      poolOf('elsewhere', ['studio'], 100, 'other'),
    ]
    budget = undefined
    events = []
    problems = []
    figures = createMetrics('controller')
    gauges = createBudgetGauges(figures)
    const apply = async (_: unknown, { status }: Sent) => {
      budget = { ...budget, status } as unknown as KubernetesObject
    }
    reconcile = createBudgetReconcile({
      client: { apply } as unknown as Client,
      record: async (_, { type, reason }) => void events.push(`${type} ${reason}`),
      reportInvalid: async (_, __, found) => void problems.push(found),
      costBudgets: { get: () => budget },
      pools: { list: () => pools },
      gauges,
      now: () => NOW,
    })
  })

  const set = (spec: object) => {
    const metadata = { namespace: 'shop', name: 'all', generation: 1 }
    budget = { ...budget, apiVersion: 'drape.dev/v1alpha1', kind: 'CostBudget', metadata, spec } as KubernetesObject
  }
  const status = () => (budget as CostBudget).status
  const above = () => status()?.conditions.find(({ type }) => type === 'AboveCap')
  const series = async () =>
    (await figures.scrape()).text
      .split('\n')
      .filter((line) => line.startsWith('drape_budget_') && !line.startsWith('#'))

  it('counts the pools of its namespace', async () => {
    set({ hourlyCap: 10 })
    await reconcile(KEY)
    expect(status()).toMatchObject({ pools: 3, hourlyCost: 7.5 })
    expect(above()).toMatchObject({ status: 'False' })
  })

  it('with engines counts only pools that run one of them', async () => {
    set({ hourlyCap: 10, engines: ['studio', 'fashn-vton'] })
    await reconcile(KEY)
    expect(status()).toMatchObject({ pools: 1, hourlyCost: 4 })
    set({ hourlyCap: 10, engines: ['fashn-vton'] })
    await reconcile(KEY)
    expect(status()).toMatchObject({ pools: 0, hourlyCost: 0 })
    expect(status()?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', reason: 'NotInUse' }))
  })

  it('that is exceeded says so by condition, event and metrics', async () => {
    set({ hourlyCap: 5 })
    await reconcile(KEY)
    expect(above()).toMatchObject({
      status: 'True',
      message: 'The workers cost 7.5 per hour; the cap is 5.',
    })
    expect(events).toContain('Warning AboveCap')
    expect((await series()).sort()).toEqual([
      expect.stringMatching(/^drape_budget_hourly_cap\{.*budget="shop\/all".*\} 5$/),
      expect.stringMatching(/^drape_budget_hourly_cost\{.*budget="shop\/all".*\} 7.5$/),
    ])
  })

  it.for([
    ['deleted', () => undefined],
    ['invalid', (found: object) => ({ ...found, spec: { hourlyCap: -1 } })],
  ] as const)('has no metrics when it is %s', async ([, change]) => {
    set({ hourlyCap: 5 })
    await reconcile(KEY)
    expect(await series()).toHaveLength(2)
    budget = change(budget ?? {}) as KubernetesObject | undefined
    await reconcile(KEY)
    expect(await series()).toEqual([])
    set({ hourlyCap: 5 })
    await reconcile(KEY)
    gauges.forgetAll()
    expect(await series()).toEqual([])
  })
})
