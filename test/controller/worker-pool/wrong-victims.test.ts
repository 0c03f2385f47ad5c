import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'
import { keepOfPod } from '../../../controller/worker-pool/workers/pods.ts'
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

  it.for(['DisruptionTarget', 'TerminationTarget'])(
    'does not fire for a worker that is preempted: %s',
    async (type) => {
      const cluster = new ModelCluster(fixed(3))
      await cluster.run(3)
      cluster.setSpec(fixed(2))
      let preempted = ''
      cluster.interfere = () => {
        const isLowered = [...cluster.replicaSets.values()].some(({ spec }) => spec.replicas === 2)
        const kept = cluster.alive.find(({ fence }) => fence === null)
        if (!isLowered || preempted !== '' || !kept) return
        const { metadata, status } = kept.object
        preempted = metadata.name
        const condition = { type, status: 'True', reason: 'PreemptionByScheduler' }
        kept.object = keepOfPod({
          ...kept.object,
          metadata: { ...metadata, deletionTimestamp: new Date(cluster.now).toISOString() },
          status: { ...status, conditions: [...(status?.conditions ?? []), condition] },
        })
      }
      await cluster.run(3)
      cluster.removePod(preempted)
      await cluster.run(7)
      expect(preempted).not.toBe('')
      expect(cluster.wrongVictims).toBe(0)
    },
  )

  it('does not fire for a deletion by hand after the node of a marked worker has ended', async () => {
    const cluster = new ModelCluster(fixed(3))
    cluster.placeOn = () => `node-${cluster.alive.filter(({ object }) => object.spec).length}`
    await cluster.run(3)
    cluster.setSpec(fixed(2))
    const marked = () => cluster.alive.find(({ object }) => object.metadata.annotations?.['drape.dev/marked-at'])
    while (marked() === undefined) await cluster.tick()
    await cluster.run(1)
    // The next pass lowers the replicas and deletes the pod by its name.
    const node = marked()?.object.spec?.nodeName ?? ''
    const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }]
    cluster.nodes.set(node, { metadata: { name: node }, spec: { taints } } as KubernetesObject)
    await cluster.run(5)
    expect(cluster.removed).toBe(1)
    expect(cluster.alive).toHaveLength(2)
    cluster.removePod(cluster.alive[0].object.metadata.name)
    await cluster.run(3)
    expect(cluster.alive).toHaveLength(2)
    expect(cluster.wrongVictims).toBe(0)
  })
})
