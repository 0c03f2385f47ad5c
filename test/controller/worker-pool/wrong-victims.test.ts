import { describe, expect, it } from 'vitest'
import { ModelCluster } from './model-cluster.ts'

const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const fixed = (replicas: number) => ({ engines: ['mock'], replicas, scaling: { mode: 'Fixed' }, template })
const SCALE_DOWNS = 1000

describe('the alert for a worker removed instead of a drained one', () => {
  it('does not fire in 1,000 scale-downs that remove only drained workers', async () => {
    const cluster = new ModelCluster(fixed(0), 7)
    cluster.saturated = true
    cluster.jobEnds = 0.3
    for (let scaleDowns = 0; scaleDowns < SCALE_DOWNS; scaleDowns++) {
      const replicas = cluster.random.between(2, 8)
      cluster.setSpec(fixed(replicas))
      await cluster.run(2)
      cluster.setSpec({ ...fixed(cluster.random.between(0, replicas - 1)), drain: { removeBusy: true } })
      await cluster.run(cluster.random.between(1, 10))
    }
    expect(cluster.interrupted).toEqual([])
    expect(cluster.wrongVictims).toBe(0)
    // The proof is worth something only when workers really go.
    expect(cluster.removed).toBeGreaterThan(SCALE_DOWNS)
  })

  it('fires for a worker that another program removed instead of a drained one', async () => {
    const cluster = new ModelCluster(fixed(3))
    await cluster.run(3)
    cluster.setSpec(fixed(2))
    const isLowered = () => [...cluster.replicaSets.values()].some(({ spec }) => spec.replicas === 2)
    cluster.interfere = () => {
      if (!isLowered() || cluster.removed > 0) return
      const kept = cluster.alive.find(({ fence }) => fence === null)
      cluster.removePod(kept?.object.metadata.name ?? '')
    }
    await cluster.run(10)
    expect(cluster.wrongVictims).toBe(1)
    expect(cluster.events.map(({ reason }) => reason)).toContain('WrongVictim')
  })
})
