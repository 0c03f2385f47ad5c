import { describe, expect, it } from 'vitest'
import { ModelCluster } from './model-cluster.ts'

const WORKERS = 20
const JOB_SECONDS = 10
const MARK_SECONDS = 5
const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const pace = { scaleUp: { maxReplicas: 100 }, scaleDown: { maxReplicas: 1 } }

function saturatedBy(policy: object, more: object = {}) {
  const rules = { bounds: { min: 1, max: WORKERS }, target: { backlogPerSlot: 1 }, ...pace, ...policy }
  return { engines: ['mock'], capacity: { hourlyCost: 1 }, scaling: { policy: rules }, template, ...more }
}

/** A pool with as many workers as it may have, all busy, and a backlog that never ends. */
async function saturatedPool(policy: object = {}): Promise<ModelCluster> {
  const cluster = new ModelCluster(saturatedBy(policy))
  cluster.saturated = true
  cluster.jobSeconds = JOB_SECONDS
  cluster.demand = { waiting: 500, inFlight: WORKERS, oldestWaitSeconds: 60, secondsPerJob: JOB_SECONDS }
  await cluster.run(5)
  expect(cluster.alive.filter(({ jobs }) => jobs > 0)).toHaveLength(WORKERS)
  return cluster
}

describe('a saturated pool', () => {
  it.for([
    ['a hard cost cap', { cost: { hourlyCap: 5, mode: 'Hard' } }, 'cost.hourlyCap'],
    ['a lowered maximum', { bounds: { min: 1, max: 5 } }, 'bounds.max'],
    ['a schedule', { schedules: [{ name: 'noon', start: '11:00', end: '13:00', max: 5 }] }, 'schedule noon'],
  ] as const)('is within %s when each worker has finished its job', async ([, policy, setBy]) => {
    const cluster = await saturatedPool()
    cluster.setSpec(saturatedBy({ ...policy, budgets: [{ name: 'never', maxDraining: 0 }] }))
    await cluster.run(2)
    expect(cluster.condition('AboveCap')).toMatchObject({ status: 'True', reason: 'AboveCap' })
    await cluster.run(JOB_SECONDS + MARK_SECONDS)
    expect(cluster.alive).toHaveLength(5)
    expect(cluster.interrupted).toEqual([])
    expect(cluster.wrongVictims).toBe(0)
    expect(cluster.condition('AboveCap')).toMatchObject({ status: 'False' })
    const events = cluster.events.filter(({ reason }) => ['AboveCap', 'WithinCap'].includes(reason))
    expect(events).toMatchObject([
      {
        type: 'Warning',
        message: `${setBy} allows 5 workers, and there are 20: 15 finish their jobs and leave.`,
      },
      { type: 'Normal' },
    ])
  })

  it('writes its status at most once in 10 s while a drain waits, unless a condition changes', async () => {
    const cluster = await saturatedPool()
    cluster.jobSeconds = 300
    cluster.setSpec(saturatedBy({ cost: { hourlyCap: 5, mode: 'Hard' } }))
    await cluster.run(5)
    const before = cluster.statusWrites.length
    let wait = 0
    await cluster.run(120, () => {
      cluster.demand = { waiting: 500, inFlight: WORKERS, oldestWaitSeconds: wait++, secondsPerJob: JOB_SECONDS }
    })
    expect(cluster.statusWrites.length - before).toBeLessThanOrEqual(12)
    expect(cluster.statusWrites.length - before).toBeGreaterThan(5)
    cluster.demand = null
    await cluster.run(1)
    expect(cluster.condition('AbleToScale')).toMatchObject({ status: 'False' })
  })

  it('keeps its busy workers above a soft cap', async () => {
    const cluster = await saturatedPool()
    cluster.setSpec(saturatedBy({ cost: { hourlyCap: 5 } }))
    await cluster.run(JOB_SECONDS + MARK_SECONDS)
    expect(cluster.alive).toHaveLength(WORKERS)
  })

  it('does not scale while paused, and continues its drain afterwards', async () => {
    const cluster = await saturatedPool()
    const capped = { cost: { hourlyCap: 5, mode: 'Hard' } }
    cluster.setSpec(saturatedBy(capped))
    await cluster.run(7)
    const steps = () => cluster.alive.map(({ object }) => [object.metadata.name, object.metadata.annotations])
    const before = steps()
    expect(before.length).toBeGreaterThan(5)
    const until = new Date(cluster.now + 60_000).toISOString()
    cluster.setSpec(saturatedBy(capped, { paused: { reason: 'an audit', until } }))
    await cluster.run(20)
    cluster.restartController()
    await cluster.run(20)
    expect(steps()).toEqual(before)
    expect(cluster.condition('Ready')).toMatchObject({ status: 'False', reason: 'Paused' })
    expect(cluster.condition('Reconciling')).toMatchObject({ status: 'False', reason: 'Paused' })
    await cluster.run(40)
    expect(cluster.alive).toHaveLength(5)
    expect(cluster.interrupted).toEqual([])
  })

  it('drains no worker while its engine does not exist, and continues its drain afterwards', async () => {
    const cluster = await saturatedPool()
    cluster.setSpec(saturatedBy({ cost: { hourlyCap: 5, mode: 'Hard' } }))
    cluster.hasEngine = false
    await cluster.run(JOB_SECONDS + MARK_SECONDS)
    cluster.hasEngine = true
    await cluster.run(1)
    cluster.hasEngine = false
    const fenced = cluster.alive.filter(({ object }) => object.metadata.annotations?.['drape.dev/fenced-at'])
    expect(fenced).toHaveLength(15)
    cluster.restartController()
    await cluster.run(60)
    expect(cluster.alive).toHaveLength(WORKERS)
    expect(cluster.alive.flatMap(({ object }) => object.metadata.annotations?.['drape.dev/marked-at'] ?? [])).toEqual(
      [],
    )
    expect(cluster.condition('EnginesReady')).toMatchObject({ status: 'False' })
    cluster.hasEngine = true
    await cluster.run(JOB_SECONDS + MARK_SECONDS)
    expect(cluster.alive).toHaveLength(5)
    expect(cluster.interrupted).toEqual([])
  })

  it.for([false, true])(
    'starts from nothing under the name of another pool, also in a new controller: %s',
    async (isNew) => {
      const cluster = await saturatedPool()
      cluster.saturated = false
      cluster.demand = { waiting: 0, inFlight: 0, oldestWaitSeconds: 0, secondsPerJob: JOB_SECONDS }
      cluster.recreatePool(saturatedBy({ bounds: { min: 2, max: WORKERS } }))
      if (isNew) cluster.restartController()
      await cluster.run(3)
      expect(cluster.status).toMatchObject({ desiredReplicas: 2, lastDecision: { from: 0, to: 2 } })
      await cluster.run(JOB_SECONDS + MARK_SECONDS)
      expect(cluster.alive).toHaveLength(2)
      expect(cluster.interrupted).toEqual([])
    },
  )
})
