import { expect, it } from 'vitest'
import { FIELD_MANAGER } from '../../../controller/runtime/field-manager.ts'
import { lastWriters } from '../../../controller/runtime/reverted-edits.ts'
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

it('replicas that the API server refused to lower are no manual change', async () => {
  const cluster = new ModelCluster(fixed(5))
  await cluster.run(5)
  cluster.setSpec(fixed(3))
  cluster.refusesReplicaSets = true
  // The workers are marked first, and drain.
  await expect(cluster.run(10)).rejects.toThrow('etcdserver: request timed out')
  cluster.refusesReplicaSets = false
  cluster.setSpec(fixed(4))
  await cluster.run(12)
  expect(cluster.replicaSets.get('pool-workers')?.spec.replicas).toBe(4)
  expect(cluster.events.filter(({ reason }) => reason === 'EditReverted')).toEqual([])
})

it('names the writers since the last write of the controller only', () => {
  const at = (manager: string, second: number, subresource?: string) => ({
    manager,
    subresource,
    time: `2026-01-01T12:00:0${second}Z`,
  })
  const writersOf = (...managedFields: ReturnType<typeof at>[]) =>
    lastWriters({ metadata: { name: 'pool-workers', managedFields } })
  const [own, annotated] = [at(FIELD_MANAGER, 2), at('annotates', 1)]
  expect(writersOf(own, annotated, at('kubectl', 3, 'scale'), at('kube-controller-manager', 4, 'status'))).toEqual([
    'kubectl',
  ])
  expect(writersOf(own, at('kubectl', 2))).toEqual(['kubectl'])
  // A removed field has no manager.
  expect(writersOf(own, annotated)).toEqual([])
})
