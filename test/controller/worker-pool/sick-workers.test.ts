import { beforeEach, describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'
import { ModelCluster } from './model-cluster.ts'

// Every node has one accelerator, so that a node takes one pod.

const SPEC = {
  engines: ['mock'],
  replicas: 3,
  scaling: { mode: 'Fixed' },
  template: { image: 'worker', requests: { cpu: '1' } },
}
const NODES = ['a', 'b', 'c', 'd', 'e']

describe('workers with a failing accelerator', () => {
  let cluster: ModelCluster
  beforeEach(async () => {
    cluster = new ModelCluster(SPEC)
    cluster.saturated = true
    cluster.jobSeconds = 5
    const isFree = (node: string) => !cluster.alive.some(({ object }) => object.spec?.nodeName === node)
    cluster.placeOn = () => NODES.find(isFree) ?? 'none'
    await cluster.run(10)
    expect(nodes()).toEqual(['a', 'b', 'c'])
  })

  const nodes = () => cluster.alive.map(({ object }) => object.spec?.nodeName).sort()
  const events = (reason: string) => cluster.events.filter((event) => event.reason === reason)

  it('are replaced, and no other workers', async () => {
    const others = cluster.alive.filter(({ object }) => object.spec?.nodeName !== 'a')
    cluster.failingNodes.add('a')
    // Repaired as soon as the pod is gone.
    cluster.interfere = () => {
      if (!nodes().includes('a')) cluster.failingNodes.clear()
    }
    await cluster.run(30)
    expect(nodes()).toEqual(['a', 'b', 'c'])
    expect(cluster.alive).toEqual(expect.arrayContaining(others))
    expect(cluster.removed).toBe(1)
    expect(cluster.interrupted).toEqual([])
    expect(cluster.wrongVictims).toBe(0)
    expect(events('WorkerSick')).toHaveLength(1)
    expect(cluster.condition('WorkersHealthy')).toMatchObject({ status: 'True' })
    expect(cluster.status).toMatchObject({
      readyReplicas: 3,
      avoidedNodes: [],
      sickWorkers: [{ node: 'a', reason: 'DeviceError', message: 'CUDA failure 700' }],
    })
  })

  it('stay on a node that fails again, so that replacements land elsewhere', async () => {
    cluster.failingNodes.add('a')
    await cluster.run(60)
    expect(nodes()).toEqual(['a', 'b', 'c', 'd'])
    expect(cluster.removed).toBe(1)
    expect(cluster.interrupted).toEqual([])
    expect(events('WorkerSick')).toHaveLength(2)
    expect(cluster.condition('WorkersHealthy')).toMatchObject({
      status: 'False',
      reason: 'SickWorkers',
      message: expect.stringContaining('a (2 sick workers) until'),
    })
    expect(cluster.condition('Ready')).toMatchObject({ status: 'True' })
    // Scaling down can take the sick pod first: the cluster prefers pods that are not ready.
    cluster.saturated = false
    cluster.setSpec({ ...SPEC, replicas: 2 })
    await cluster.run(60)
    expect(cluster.alive.filter(({ object }) => object.spec?.nodeName !== 'a')).toHaveLength(2)
    expect(cluster.wrongVictims).toBe(0)
  })

  it('are known to the next controller', async () => {
    cluster.failingNodes.add('a')
    await cluster.run(60)
    cluster.restartController()
    await cluster.run(30)
    expect(nodes()).toEqual(['a', 'b', 'c', 'd'])
    expect(events('WorkerSick')).toHaveLength(2)
  })

  it('stay at once on a node with a failing accelerator condition', async () => {
    const conditions = [{ type: 'GpuMemWatch', status: 'True', message: 'DBE' }]
    cluster.nodes.set('a', { metadata: { name: 'a' }, status: { conditions } } as KubernetesObject)
    await cluster.run(20)
    expect(cluster.condition('WorkersHealthy')).toMatchObject({
      status: 'False',
      reason: 'NodesUnhealthy',
      message: 'Nodes report: a (GpuMemWatch: DBE).',
    })
    expect(cluster.removed).toBe(0)
    cluster.failingNodes.add('a')
    await cluster.run(30)
    expect(nodes()).toEqual(['a', 'b', 'c', 'd'])
    expect(cluster.removed).toBe(0)
    expect(cluster.status.avoidedNodes).toMatchObject([{ name: 'a', workers: 1 }])
  })

  it('leave an avoided node after its timeout, and when the pool needs no workers', async () => {
    cluster.failingNodes.add('a')
    await cluster.run(60)
    cluster.failingNodes.clear()
    // The ReplicaSet has one worker more than desired, which leaves when it has no job.
    cluster.saturated = false
    await cluster.run(20)
    expect(cluster.alive).toHaveLength(3)
    cluster.failingNodes.add('b')
    await cluster.run(60)
    cluster.setSpec({ ...SPEC, replicas: 0 })
    await cluster.run(60)
    expect(cluster.alive).toEqual([])
    expect(cluster.interrupted).toEqual([])
  })

  it('are not replaced while the pool is paused', async () => {
    const until = new Date(cluster.now + 600_000).toISOString()
    cluster.setSpec({ ...SPEC, paused: { reason: 'audit', until } })
    cluster.failingNodes.add('a')
    await cluster.run(30)
    expect(cluster.removed).toBe(0)
    expect(cluster.condition('WorkersHealthy')).toMatchObject({ status: 'False' })
  })
})
