import { expect, it } from 'vitest'
import { ModelCluster } from '../model-cluster.ts'

const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const capacity = { hourlyCost: 2 }
const fixed = { engines: ['mock'], replicas: 3, scaling: { mode: 'Fixed' }, capacity, template }

it('a pool reports the reason of the scheduler, and counts cost only for scheduled workers', async () => {
  const cluster = new ModelCluster(fixed)
  let placed = 1
  cluster.isPlaced = () => placed-- > 0
  await cluster.run(3)
  expect(cluster.condition('WorkersScheduled')).toMatchObject({
    status: 'False',
    reason: 'Unschedulable',
    message: '2 workers have no node: 0/3 nodes are available',
  })
  expect(cluster.status).toMatchObject({ replicas: 3, unschedulableReplicas: 2, hourlyCost: 2 })
  expect(cluster.events.filter(({ reason }) => reason === 'Unschedulable')).toMatchObject([{ type: 'Warning' }])
  cluster.isPlaced = () => true
  await cluster.run(12)
  expect(cluster.condition('WorkersScheduled')).toMatchObject({ status: 'True' })
  expect(cluster.status).toMatchObject({ unschedulableReplicas: 0, hourlyCost: 6 })
  expect(cluster.events.filter(({ reason }) => reason === 'Scheduled')).toMatchObject([{ type: 'Normal' }])
})

it('a pool reports why the API server rejects its workers', async () => {
  const cluster = new ModelCluster(fixed)
  const message = 'pods "pool-workers-1" is forbidden: exceeded quota: gpus'
  cluster.createFailure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }
  await cluster.run(3)
  expect(cluster.condition('WorkersCreated')).toMatchObject({ status: 'False', reason: 'FailedCreate', message })
  expect(cluster.status).toMatchObject({ replicas: 0, unschedulableReplicas: 3, hourlyCost: 0 })
  expect(cluster.events).toContainEqual({ type: 'Warning', reason: 'FailedCreate', message })
})

it('the busy workers are unknown while Redis is unavailable', async () => {
  const cluster = new ModelCluster(fixed)
  await cluster.run(3)
  expect(cluster.status.busyReplicas).toBe(0)
  cluster.queueReachable = false
  await cluster.run(3)
  expect(cluster.status.busyReplicas).toBeUndefined()
  expect(cluster.condition('QueueReachable')).toMatchObject({ status: 'False' })
})

it('a pool with unknown demand is not ready', async () => {
  const policy = { bounds: { min: 1, max: 3 }, target: { backlogPerSlot: 1 } }
  const cluster = new ModelCluster({ engines: ['mock'], scaling: { policy }, template })
  await cluster.run(3)
  expect(cluster.condition('Ready')).toMatchObject({ status: 'True' })
  cluster.demand = null
  await cluster.run(2)
  expect(cluster.condition('Ready')).toMatchObject({ status: 'False', reason: 'DemandUnknown' })
})
