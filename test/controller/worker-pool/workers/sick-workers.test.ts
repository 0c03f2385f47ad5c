import { beforeEach, describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../../controller/runtime/resource.ts'
import { ModelCluster } from '../model-cluster.ts'

// Every node has one accelerator, so that a node takes one pod.

const SPEC = {
  engines: ['mock'],
  replicas: 3,
  scaling: { mode: 'Fixed' },
  template: { image: 'worker', requests: { cpu: '1' } },
}
type Template = { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } }
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
  /** Whether new workers stay off avoided nodes. */
  const isHinted = () => {
    const template = cluster.replicaSets.get('pool-workers')?.spec.template as Template | undefined
    return template?.metadata.annotations['drape.dev/avoids-sick'] !== undefined
  }
  const labels = () => cluster.alive.flatMap(({ object }) => object.metadata.labels?.['drape.dev/sick'] ?? [])
  const events = (reason: string) => cluster.events.filter((event) => event.reason === reason)

  it('are replaced, and no other workers', async () => {
    const others = cluster.alive.filter(({ object }) => object.spec?.nodeName !== 'a')
    cluster.failingNodes.add('a')
    // Repaired as soon as the pod is gone.
    cluster.interfere = () => {
      if (!nodes().includes('a')) cluster.failingNodes.clear()
    }
    await cluster.run(30, () => expect(isHinted()).toBe(false))
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
    expect([isHinted(), labels()]).toEqual([true, ['node-avoided']])
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

  it('share a node with new workers until as many failed as the pool allows', async () => {
    cluster.setSpec({ ...SPEC, sickNodes: { maxWorkers: 3 } })
    cluster.failingNodes.add('a')
    const hinted: boolean[] = []
    await cluster.run(90, () => {
      hinted[events('WorkerSick').length] ||= isHinted()
    })
    expect(hinted.slice(1)).toEqual([false, false, true])
    expect(nodes()).toEqual(['a', 'b', 'c', 'd'])
    expect(cluster.removed).toBe(2)
  })

  it('keep no worker pending when no other node runs a worker any more', async () => {
    cluster.isPlaced = ({ metadata }) =>
      metadata.annotations?.['drape.dev/avoids-sick'] === undefined || !nodes().includes('a')
    cluster.failingNodes.add('a')
    await cluster.run(60)
    expect(nodes()).toEqual(['a', 'b', 'c', undefined])
    for (const { object } of cluster.alive)
      if (['b', 'c'].includes(object.spec?.nodeName ?? '')) cluster.removePod(object.metadata.name)
    // Another accelerator of the node of the sick worker.
    cluster.placeOn = () => 'a, second'
    await cluster.run(20)
    expect(nodes()).toContain('a, second')
    expect(cluster.condition('Ready')).toMatchObject({ status: 'True' })
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

  const auto = (max: number, cost: object = {}) => {
    const policy = { bounds: { min: 1, max }, target: { backlogPerSlot: 1 }, scaleUp: { maxReplicas: 100 }, ...cost }
    return { engines: ['mock'], capacity: { hourlyCost: 1 }, scaling: { policy }, template: SPEC.template }
  }
  /** A pool with a backlog for `max` workers, whose scheduler tries the failing node first, and later the others too. */
  const saturated = async (spec: object, max: number) => {
    const scaled = new ModelCluster(spec)
    scaled.saturated = true
    scaled.jobSeconds = 5
    scaled.demand = { waiting: 100, inFlight: max, oldestWaitSeconds: 60, secondsPerJob: 5 }
    scaled.failingNodes.add('a')
    let placed = 0
    scaled.placeOn = () => {
      const free = NODES.filter((node) => !scaled.alive.some(({ object }) => object.spec?.nodeName === node))
      return (placed++ < 2 * max ? free[0] : free.at(-1)) ?? 'none'
    }
    let most = 0
    await scaled.run(120, () => {
      most = Math.max(most, scaled.alive.length)
    })
    const working = scaled.alive.filter(({ jobs, object }) => jobs > 0 && object.spec?.nodeName !== 'a')
    return { scaled, most, working }
  }

  it('do not count for the maximum of the pool while they are held', async () => {
    const { scaled, working } = await saturated(auto(1), 1)
    expect(working).toHaveLength(1)
    expect(scaled.alive).toHaveLength(2)
    expect(scaled.status.avoidedNodes).toMatchObject([{ name: 'a' }])
    expect(scaled.condition('Ready')).toMatchObject({ status: 'True' })
    expect(scaled.condition('AboveCap')).toMatchObject({ status: 'False' })
    expect(scaled.wrongVictims).toBe(0)
  })

  it.for([
    [1, 1, 1],
    [3, 2, 3],
  ] as const)('count for a hard cost cap of %i, which leaves room for a worker', async ([cap, count, alive]) => {
    const { scaled, most, working } = await saturated(auto(5, { cost: { hourlyCap: cap, mode: 'Hard' } }), cap)
    expect(most).toBe(cap)
    expect(working).toHaveLength(count)
    expect(scaled.alive).toHaveLength(alive)
    expect(scaled.condition('AboveCap')).toMatchObject({ status: 'False' })
    expect(scaled.interrupted).toEqual([])
    expect(scaled.wrongVictims).toBe(0)
  })
})
