import { describe, expect, it } from 'vitest'
import { ModelCluster } from './model-cluster.ts'

const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const fixed = (replicas: number, more: object = {}) => ({
  engines: ['mock'],
  replicas,
  scaling: { mode: 'Fixed' },
  template,
  ...more,
})
const NO_DEMAND = { waiting: 0, inFlight: 0, oldestWaitSeconds: 0, secondsPerJob: 3 }

describe('a controller that leads again after another one', () => {
  it('freezes a paused pool at its current size, not at the size of its earlier term', async () => {
    const cluster = new ModelCluster(fixed(2))
    const first = cluster.controller
    cluster.saturated = true
    await cluster.run(5)
    cluster.elect(cluster.startController())
    cluster.setSpec(fixed(20))
    await cluster.run(5)
    expect(cluster.alive.filter(({ jobs }) => jobs > 0)).toHaveLength(20)
    const until = new Date(cluster.now + 60_000).toISOString()
    cluster.setSpec(fixed(20, { paused: { reason: 'an audit', until } }))
    cluster.elect(first)
    await cluster.run(10)
    expect(cluster.alive).toHaveLength(20)
    expect(cluster.interrupted).toEqual([])
  })

  it('waits for a whole stabilization window of its own before it scales down', async () => {
    const rules = { bounds: { min: 1, max: 20 }, target: { backlogPerSlot: 1 }, scaleUp: { maxReplicas: 100 } }
    const policy = { ...rules, scaleDown: { stabilizationSeconds: 60, maxReplicas: 100 } }
    const cluster = new ModelCluster({ engines: ['mock'], scaling: { policy }, template })
    const first = cluster.controller
    cluster.demand = NO_DEMAND
    await cluster.run(90)
    cluster.elect(cluster.startController())
    cluster.demand = { ...NO_DEMAND, waiting: 20 }
    await cluster.run(90)
    expect(cluster.alive).toHaveLength(20)
    cluster.demand = NO_DEMAND
    cluster.elect(first)
    await cluster.run(50)
    expect(cluster.alive).toHaveLength(20)
    await cluster.run(30)
    expect(cluster.alive).toHaveLength(1)
  })

  it('does not count workers that the other one drained as wrong victims', async () => {
    const cluster = new ModelCluster(fixed(3))
    const first = cluster.controller
    await cluster.run(3)
    // Drained last.
    const [busy] = cluster.alive
    Object.assign(busy, { jobs: 1, startedAt: cluster.now })
    cluster.jobSeconds = 20
    cluster.setSpec(fixed(2))
    while (cluster.removed === 0) await cluster.tick()
    cluster.elect(cluster.startController())
    cluster.setSpec(fixed(1))
    cluster.jobSeconds = 1
    const [, kept] = cluster.alive
    kept.idleSince = cluster.now + 60_000
    await cluster.run(20)
    expect(cluster.alive).toEqual([kept])
    cluster.elect(first)
    await cluster.run(3)
    expect(cluster.wrongVictims).toBe(0)
  })

  it('abandons a plan of its earlier term', async () => {
    const cluster = new ModelCluster(fixed(3))
    const first = cluster.controller
    await cluster.run(3)
    cluster.setSpec(fixed(2))
    cluster.beforeOrder = async () => {
      cluster.beforeOrder = async () => {}
      cluster.elect(cluster.startController())
      cluster.setSpec(fixed(5))
      await cluster.tick()
      cluster.elect(first)
    }
    await expect(cluster.tick()).rejects.toMatchObject({ reason: 'NotLeader' })
    expect([...cluster.replicaSets.values()].map(({ spec }) => spec.replicas)).toEqual([5])
    await cluster.run(5)
    expect(cluster.alive).toHaveLength(5)
  })
})
