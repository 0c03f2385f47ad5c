import { expect, it } from 'vitest'
import { ModelCluster } from './model-cluster.ts'

const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const fixed = (replicas: number) => ({ engines: ['mock'], replicas, scaling: { mode: 'Fixed' }, template })

it('a manual change of the ReplicaSet of a pool is reverted and leaves an event on the pool', async () => {
  const cluster = new ModelCluster(fixed(3))
  await cluster.run(3)
  for (let edit = 1; edit <= 2; edit++) {
    cluster.editReplicaSet('pool-workers', { replicas: 5 })
    await cluster.run(3)
    expect(cluster.replicaSets.get('pool-workers')?.spec.replicas).toBe(3)
    const events = cluster.events.filter(({ reason }) => reason === 'EditReverted')
    expect(events).toHaveLength(edit)
    expect(events[0]).toEqual({
      type: 'Warning',
      reason: 'EditReverted',
      message: 'A change of ReplicaSet pool-workers by kubectl was reverted. Change the WorkerPool instead.',
    })
  }
})

it('a change of the pool itself is no manual change', async () => {
  const cluster = new ModelCluster(fixed(3))
  await cluster.run(3)
  cluster.setSpec(fixed(1))
  await cluster.run(12)
  cluster.restartController()
  await cluster.run(5)
  expect(cluster.events.filter(({ reason }) => reason === 'EditReverted')).toEqual([])
})
