import { describe, expect, it } from 'vitest'
import { TEMPLATE_DIGEST } from '../../../../controller/worker-pool/workers/pods.ts'
import { ModelCluster } from '../model-cluster.ts'

const WORKERS = 12
const JOB_SECONDS = 10

function poolWith(image: string, more: object = {}, max = 20) {
  const policy = { bounds: { min: WORKERS, max }, target: { backlogPerSlot: 10 } }
  return { engines: ['mock'], scaling: { policy }, template: { image, requests: { cpu: '1' } }, ...more }
}

/** A pool whose 12 workers are all busy, at any time. */
async function busyPool(spec: object = poolWith('drape/worker:1')): Promise<ModelCluster> {
  const cluster = new ModelCluster(spec)
  cluster.saturated = true
  cluster.jobSeconds = JOB_SECONDS
  cluster.demand = { waiting: 90, inFlight: WORKERS, oldestWaitSeconds: 1, secondsPerJob: JOB_SECONDS }
  await cluster.run(5)
  expect(cluster.alive.filter(({ jobs }) => jobs > 0)).toHaveLength(WORKERS)
  return cluster
}

/** Runs until no worker has an earlier template. Returns the extremes of the numbers of all workers and of those that take jobs. */
async function rollOut(cluster: ModelCluster, seconds = 300) {
  let most = 0
  let fewest = Number.POSITIVE_INFINITY
  await cluster.run(seconds, () => {
    most = Math.max(most, cluster.alive.length)
    fewest = Math.min(fewest, cluster.alive.filter(isTaking).length)
  })
  expect(cluster.condition('WorkersUpdated')).toMatchObject({ status: 'True' })
  expect(cluster.condition('Ready')).toMatchObject({ status: 'True' })
  expect(new Set(cluster.alive.map(digestOf)).size).toBe(1)
  expect(cluster.interrupted).toEqual([])
  expect(cluster.wrongVictims).toBe(0)
  expect(cluster.alive.filter(({ fence }) => fence !== null)).toEqual([])
  return { most, fewest }
}

describe('a change of the template', () => {
  it('replaces each worker after its jobs, once a surge worker is ready', async () => {
    const cluster = await busyPool()
    cluster.setSpec(poolWith('drape/worker:2'))
    await cluster.run(2)
    expect(cluster.status).toMatchObject({ replicas: 15, desiredReplicas: 12, updatedReplicas: 3 })
    expect(cluster.condition('Ready')).toMatchObject({ status: 'False', reason: 'RollingOut' })
    expect(cluster.condition('WorkersUpdated')).toMatchObject({
      status: 'False',
      message: '12 workers have an earlier template; each is replaced when it has finished its jobs.',
    })
    expect(await rollOut(cluster)).toEqual({ most: 15, fewest: 12 })
    expect(cluster.alive).toHaveLength(12)
    // No worker was made in vain.
    expect(cluster.removed).toBe(12)
    expect(cluster.status.updatedReplicas).toBe(12)
    expect(cluster.events.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['RollingOut', 'Updated']))
  })

  it('replaces workers one at a time at the upper bound, without surge', async () => {
    const cluster = await busyPool(poolWith('drape/worker:1', {}, WORKERS))
    cluster.setSpec(poolWith('drape/worker:2', {}, WORKERS))
    expect(await rollOut(cluster)).toEqual({ most: 12, fewest: 11 })
  })

  it.for([
    [
      { maxSurge: 0, maxUnavailable: '50%' },
      { most: 12, fewest: 6 },
    ],
    [
      { maxSurge: 0, maxUnavailable: 0 },
      { most: 12, fewest: 11 },
    ],
    [
      { maxSurge: '100%', maxUnavailable: 0 },
      { most: 24, fewest: 12 },
    ],
    [
      { maxSurge: 1, maxUnavailable: 2 },
      { most: 13, fewest: 10 },
    ],
  ] as const)('keeps within %j', async ([rollout, expected]) => {
    const cluster = await busyPool(poolWith('drape/worker:1', { rollout }, 40))
    cluster.setSpec(poolWith('drape/worker:2', { rollout }, 40))
    expect(await rollOut(cluster)).toEqual(expected)
  })

  it('keeps old workers while new ones do not start, and continues with a later template', async () => {
    const cluster = await busyPool()
    const brokenAt = cluster.now
    const isBroken = new Set<string>()
    cluster.isPlaced = ({ metadata }) => !isBroken.has(metadata.name)
    cluster.setSpec(poolWith('drape/worker:broken'))
    await cluster.run(60, () => {
      for (const { object } of cluster.alive)
        if (Date.parse(object.metadata.creationTimestamp ?? '') > brokenAt) isBroken.add(object.metadata.name)
    })
    expect(cluster.alive.filter(isTaking)).toHaveLength(12)
    expect(cluster.alive).toHaveLength(15)
    cluster.setSpec(poolWith('drape/worker:2'))
    expect((await rollOut(cluster)).fewest).toBe(12)
    expect(cluster.alive).toHaveLength(12)
  })

  it('keeps the workers that a rollback makes current again, also those that drain', async () => {
    const rollout = { maxSurge: 0, maxUnavailable: 2 }
    const cluster = await busyPool(poolWith('drape/worker:1', { rollout }))
    const names = () => cluster.alive.map(({ object }) => object.metadata.name)
    const before = names()
    cluster.jobSeconds = 300
    cluster.setSpec(poolWith('drape/worker:2', { rollout }))
    await cluster.run(JOB_SECONDS)
    expect(cluster.alive.filter((pod) => !isTaking(pod))).toHaveLength(2)
    cluster.setSpec(poolWith('drape/worker:1', { rollout }))
    await rollOut(cluster, 20)
    expect(names()).toEqual(before)
  })

  it('stops while the pool is paused', async () => {
    const cluster = await busyPool()
    cluster.setSpec(poolWith('drape/worker:2'))
    await cluster.run(15)
    const names = () => cluster.alive.map(({ object }) => object.metadata.name)
    const before = names()
    const until = new Date(cluster.now + 60_000).toISOString()
    cluster.setSpec(poolWith('drape/worker:2', { paused: { reason: 'an audit', until } }))
    await cluster.run(50)
    expect(names()).toEqual(before)
    await rollOut(cluster)
  })

  it('waits for a disruption budget', async () => {
    const never = { budgets: [{ name: 'never', maxDraining: 0 }] }
    const policy = { bounds: { min: WORKERS, max: 20 }, target: { backlogPerSlot: 10 } }
    const cluster = await busyPool()
    cluster.setSpec(poolWith('drape/worker:2', { scaling: { policy: { ...policy, ...never } } }))
    await cluster.run(60)
    expect(cluster.removed).toBe(0)
    cluster.setSpec(poolWith('drape/worker:2'))
    await rollOut(cluster)
  })

  it('interrupts no job in 200 random rollouts', async () => {
    let rollouts = 0
    for (let seed = 1; seed <= 20; seed++) {
      const cluster = new ModelCluster(fixed(4, 0), seed)
      cluster.saturated = true
      cluster.jobEnds = 0.2
      const { random } = cluster
      for (let round = 1; round <= 10; round++) {
        cluster.setSpec(fixed(random.between(0, 8), round, { maxSurge: random.between(0, 3) }))
        rollouts++
        await cluster.run(random.between(1, 30), () => {
          if (random.chance(0.05)) cluster.restartController()
          cluster.queueReachable = !random.chance(0.1)
          const placed = random.chance(0.7)
          cluster.isPlaced = () => placed
        })
      }
      cluster.queueReachable = true
      cluster.isPlaced = () => true
      cluster.setSpec(fixed(5, 10))
      await rollOut(cluster)
      expect(cluster.alive).toHaveLength(5)
    }
    expect(rollouts).toBe(200)
  })
})

function fixed(replicas: number, version: number, rollout: object = {}) {
  return {
    engines: ['mock'],
    replicas,
    rollout,
    scaling: { mode: 'Fixed' },
    drain: { removeBusy: true },
    template: { image: `drape/worker:${version}`, requests: { cpu: '1' } },
  }
}

type ModelPod = ModelCluster['alive'][number]

function isTaking({ object, fence }: ModelPod): boolean {
  return fence === null && (object.status?.containerStatuses?.some(({ started }) => started === true) ?? false)
}

function digestOf({ object }: ModelPod): string | undefined {
  return object.metadata.annotations?.[TEMPLATE_DIGEST]
}
