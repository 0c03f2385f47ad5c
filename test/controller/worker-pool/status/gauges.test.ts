import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../../../api/shared/telemetry/metrics.ts'
import { createPoolGauges } from '../../../../controller/worker-pool/status/gauges.ts'
import type { PoolStatus } from '../../../../controller/worker-pool/status/status-schema.ts'

const status: PoolStatus = {
  min: 1,
  max: 4,
  replicas: 3,
  desiredReplicas: 4,
  readyReplicas: 2,
  busyReplicas: 2,
  demand: { waiting: 7, inFlight: 2, oldestWaitSeconds: 40 },
  hourlyCost: 1.5,
  limitedBy: 'bounds.max, drain',
  decisions: [],
  gatedReplicas: 1,
  sickWorkers: [],
  avoidedNodes: [],
  failingWorkers: [
    { reason: 'UnexpectedAdmissionError', workers: 4, node: 'gpu-a', message: '' },
    { reason: 'UnexpectedAdmissionError', workers: 1, node: 'gpu-b', message: '' },
    { reason: 'OOMKilled', workers: 1, message: '' },
  ],
  workers: [
    { name: 'a', state: 'Busy', jobs: 1 },
    { name: 'b', state: 'Busy', jobs: 1 },
    { name: 'c', state: 'Starting', jobs: 0 },
  ],
  conditions: [
    { type: 'Ready', status: 'False', reason: 'Scaling', message: '', lastTransitionTime: '', observedGeneration: 1 },
    {
      type: 'Reconciling',
      status: 'True',
      reason: 'Scaling',
      message: '',
      lastTransitionTime: '',
      observedGeneration: 1,
    },
    { type: 'Stalled', status: 'False', reason: 'Working', message: '', lastTransitionTime: '', observedGeneration: 1 },
  ],
}

describe('the gauges of pools', () => {
  const create = () => {
    const metrics = createMetrics('controller')
    return { gauges: createPoolGauges(metrics), read: () => readFigures(metrics) }
  }

  it('show observations and decisions of a pool', async () => {
    const { gauges, read } = create()
    gauges.note('shop/warp', status, ['warp', 'mock'])
    const figures = await read()
    expect(figures.get('drape_pool_workers{pool="shop/warp",state="Busy"}')).toBe(2)
    expect(figures.get('drape_pool_workers{pool="shop/warp",state="Starting"}')).toBe(1)
    expect(figures.get('drape_pool_workers{pool="shop/warp",state="Idle"}')).toBe(0)
    expect(figures.get('drape_pool_ready_workers{pool="shop/warp"}')).toBe(2)
    expect(figures.get('drape_engine_pools{engine="mock"}')).toBe(1)
    expect(figures.get('drape_pool_bounds{pool="shop/warp",bound="desired"}')).toBe(4)
    expect(figures.get('drape_pool_jobs{pool="shop/warp",state="waiting"}')).toBe(7)
    expect(figures.get('drape_pool_oldest_wait_seconds{pool="shop/warp"}')).toBe(40)
    expect(figures.get('drape_pool_gated_workers{pool="shop/warp"}')).toBe(1)
    expect(figures.get('drape_pool_hourly_cost{pool="shop/warp"}')).toBe(1.5)
    expect(figures.get('drape_pool_failing_workers{pool="shop/warp",reason="UnexpectedAdmissionError"}')).toBe(5)
    expect(figures.get('drape_pool_failing_workers{pool="shop/warp",reason="OOMKilled"}')).toBe(1)
    expect(figures.get('drape_pool_failing_workers{pool="shop/warp",reason="None"}')).toBe(0)
    expect(figures.get('drape_pool_limited{pool="shop/warp",by="bounds.max"}')).toBe(1)
    expect(figures.get('drape_pool_limited{pool="shop/warp",by="drain"}')).toBe(1)
    expect(figures.get('drape_pool_condition{pool="shop/warp",type="Reconciling"}')).toBe(1)
    expect(figures.get('drape_pool_condition{pool="shop/warp",type="Stalled"}')).toBe(0)
    expect([...figures.keys()].some((key) => key.includes('type="Ready"'))).toBe(false)
  })

  it('omit unknown values and deleted pools', async () => {
    const { gauges, read } = create()
    const { demand: _, min: __, busyReplicas: ___, ...unread } = status
    gauges.note('shop/warp', { ...unread, limitedBy: '' }, ['warp'])
    const figures = [...(await read()).keys()].join('\n')
    expect(figures).not.toMatch(/drape_pool_(jobs|limited|oldest_wait_seconds)\{/)
    expect(figures).not.toContain('bound="min"')
    expect(figures).not.toContain('state="Busy"')
    gauges.forget('shop/warp')
    expect([...(await read()).keys()].join('\n')).not.toMatch(/drape_(pool|engine)_/)
  })

  it('aggregate many pools into few series, with complete sums', async () => {
    const { gauges, read } = create()
    for (let i = 0; i < 1000; i++) {
      gauges.note(`shop/pool-${i}`, { ...status, demand: { waiting: 1, inFlight: 0, oldestWaitSeconds: i } }, ['warp'])
    }
    const figures = await read()
    expect(figures.size).toBeLessThan(2000)
    const waiting = [...figures].filter(([key]) => key.startsWith('drape_pool_jobs') && key.includes('"waiting"'))
    expect(waiting.reduce((sum, [, value]) => sum + value, 0)).toBe(1000)
    expect(figures.get('drape_pool_oldest_wait_seconds{pool="others"}')).toBe(999)
    gauges.forgetAll()
    expect([...(await read()).keys()].join('\n')).not.toContain('drape_pool_')
  })
})

async function readFigures(metrics: ReturnType<typeof createMetrics>): Promise<ReadonlyMap<string, number>> {
  const lines = (await metrics.scrape()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
