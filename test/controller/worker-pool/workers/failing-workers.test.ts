import { describe, expect, it } from 'vitest'
import { findFailures } from '../../../../controller/worker-pool/workers/failing-workers.ts'
import { AVOIDS_NODES, keepOfPod, type Pod } from '../../../../controller/worker-pool/workers/pods.ts'
import { ModelCluster } from '../model-cluster.ts'

const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const pool = { engines: ['mock'], replicas: 2, scaling: { mode: 'Fixed' }, capacity: { hourlyCost: 3 }, template }
const START = Date.parse('2026-05-04T12:00:00Z')
const secondsAfter = (seconds: number) => new Date(START + seconds * 1000)
const podOf = (name: string, status: Pod['status'], { node, at = 0 }: { node?: string; at?: number } = {}): Pod =>
  keepOfPod({
    metadata: { namespace: 'shop', name, creationTimestamp: secondsAfter(at).toISOString() },
    spec: { nodeName: node },
    status,
  })
const rejected = (name: string, at: number, node = 'gpu-a') =>
  podOf(
    name,
    { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'Allocate failed: no healthy devices' },
    { node, at },
  )
const waiting = (name: string, reason: string, message: string) =>
  podOf(name, { phase: 'Pending', containerStatuses: [{ name: 'worker', state: { waiting: { reason, message } } }] })
const crashed = (name: string, state: object, ending: { exitCode: number; reason?: string; message?: string }) =>
  podOf(name, {
    phase: 'Running',
    containerStatuses: [{ name: 'worker', ready: false, state, lastState: { terminated: ending } }],
  })
const find = (
  live: readonly Pod[],
  ended: readonly Pod[] = [],
  memory: Parameters<typeof findFailures>[0]['memory'] = null,
  seconds = 0,
) => findFailures({ live, ended, memory, now: secondsAfter(seconds) })

describe('workers that do not start', () => {
  it('are counted by the reason of their containers, with one cause', () => {
    const unauthorized = 'failed to pull and unpack image "r/w:1": 401 Unauthorized'
    const { failing } = find([
      waiting('a', 'ImagePullBackOff', `Back-off pulling image "r/w:1": ErrImagePull: ${unauthorized}`),
      waiting('b', 'ErrImagePull', unauthorized),
      waiting('c', 'CreateContainerConfigError', 'secret "drape-worker" not found'),
      waiting('d', 'ContainerCreating', ''),
      waiting('e', 'PodInitializing', ''),
    ])
    expect(failing).toEqual([
      { reason: 'ImagePullBackOff', workers: 2, message: `ErrImagePull: ${unauthorized}` },
      { reason: 'CreateContainerConfigError', workers: 1, message: 'secret "drape-worker" not found' },
    ])
  })

  it('keep the reason of a crash while they run between two crashes, and until they have started', () => {
    const running = { running: { startedAt: '2026-05-04T12:00:00Z' } }
    const pausing = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } }
    const ending = { exitCode: 1, message: 'starting\nthe model cannot be opened' }
    const crash = { reason: 'CrashLoopBackOff', workers: 1, message: 'exit code 1: the model cannot be opened' }
    expect(find([crashed('a', pausing, ending)]).failing).toEqual([crash])
    expect(find([crashed('a', running, ending)]).failing).toEqual([crash])
    const killed = find([crashed('a', running, { exitCode: 137, reason: 'OOMKilled' })])
    expect(killed.failing).toEqual([{ reason: 'OOMKilled', workers: 1, message: 'exit code 137' }])
    // A worker that has started after its crash is not ready for another reason.
    const started = podOf('a', {
      phase: 'Running',
      containerStatuses: [
        { name: 'worker', ready: false, started: true, state: running, lastState: { terminated: ending } },
      ],
    })
    expect(find([started]).failing).toEqual([])
    const ready = crashed('a', running, ending)
    expect(
      find([{ ...ready, status: { ...ready.status, conditions: [{ type: 'Ready', status: 'True' }] } }]).failing,
    ).toEqual([])
  })
})

describe('nodes that reject workers', () => {
  it('get none for 10 seconds, twice as long after each further rejection, at most 5 minutes', () => {
    const pauseAfter = (count: number) => {
      const pods = Array.from({ length: count }, (_, i) => rejected(`p${i}`, 0))
      let seconds = 0
      while (find([], pods, null, seconds).avoidedNodes.length > 0) seconds++
      return seconds
    }
    expect([1, 2, 3, 6, 50].map(pauseAfter)).toEqual([10, 20, 40, 300, 300])
  })

  it('are reported with reason and count, also after their pods are deleted', () => {
    const first = find([], [rejected('p1', 0), rejected('p2', 0), rejected('p3', 0, 'gpu-b')])
    expect(first.avoidedNodes).toEqual(['gpu-a', 'gpu-b'])
    const later = find([], [rejected('p2', 0)], first.memory, 15)
    expect(later.avoidedNodes).toEqual(['gpu-a'])
    expect(later.failing).toMatchObject([
      { reason: 'UnexpectedAdmissionError', workers: 2, node: 'gpu-a', message: 'Allocate failed: no healthy devices' },
      { workers: 1, node: 'gpu-b' },
    ])
  })

  it('count as sound once a new worker is ready there, or after 10 minutes without a rejection', () => {
    const { memory } = find([], [rejected('p1', 0)])
    const ready = (at: number) =>
      podOf('w', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }, { node: 'gpu-a', at })
    expect(find([ready(-60)], [], memory, 5).avoidedNodes).toEqual(['gpu-a'])
    expect(find([ready(12)], [], memory, 30).failing).toEqual([])
    expect(find([], [], memory, 600).failing).toHaveLength(1)
    expect(find([], [], memory, 611).failing).toEqual([])
  })

  it('do not include nodes whose pods ended after they had run', () => {
    const status = {
      phase: 'Failed',
      reason: 'Evicted',
      containerStatuses: [{ name: 'worker', state: { terminated: { exitCode: 137 } } }],
    }
    const { avoidedNodes, failing } = find([], [podOf('a', status, { node: 'gpu-a' })])
    expect([avoidedNodes, failing]).toEqual([[], []])
  })
})

it('all ended pods but the last three are obsolete', () => {
  const pods = [3, 1, 5, 2, 4].map((at) => rejected(`p${at}`, at))
  expect(find([], pods).obsolete).toEqual(['p2', 'p1'])
})

describe('a pool whose node rejects each worker', () => {
  const start = (rejects: (second: number) => boolean) => {
    const cluster = new ModelCluster(pool)
    const startedAt = cluster.now
    const failed = new Set<string>()
    cluster.isPlaced = ({ metadata }) => metadata.annotations?.[AVOIDS_NODES] !== 'node-1'
    cluster.rejects = () => rejects((cluster.now - startedAt) / 1000)
    const failedNow = () => [...cluster.pods.values()].filter(({ object }) => object.status?.phase === 'Failed')
    cluster.interfere = () => {
      for (const { object } of failedNow()) failed.add(object.metadata.name)
    }
    return { cluster, failed, failedNow }
  }

  it('makes at most 20 failed pods in 10 minutes, keeps three, and says why', async () => {
    const { cluster, failed, failedNow } = start(() => true)
    await cluster.run(600)
    expect(failed.size).toBeGreaterThan(4)
    expect(failed.size).toBeLessThanOrEqual(20)
    expect(failedNow()).toHaveLength(3)
    expect(cluster.condition('WorkersStarting')).toMatchObject({
      status: 'False',
      reason: 'UnexpectedAdmissionError',
      message: `${failed.size} × UnexpectedAdmissionError on node-1, which gets no worker for now: Allocate failed: no healthy devices`,
    })
    expect(cluster.condition('Problems')).toMatchObject({ status: 'True', reason: 'WorkersScheduled,WorkersStarting' })
    expect(cluster.events.filter(({ reason }) => reason === 'UnexpectedAdmissionError')).toHaveLength(1)
    // Failed pods are no workers and cost nothing.
    expect(cluster.status).toMatchObject({ replicas: 2, readyReplicas: 0, unschedulableReplicas: 2, hourlyCost: 0 })
    expect(cluster.status.workers).toHaveLength(2)
    expect(cluster.status.workers.every(({ state }) => state === 'Starting')).toBe(true)
  })

  it('gets its workers once the node accepts them', async () => {
    const { cluster } = start((second) => second < 60)
    await cluster.run(400)
    expect(cluster.status).toMatchObject({ readyReplicas: 2, hourlyCost: 6 })
    expect(cluster.condition('WorkersStarting')).toMatchObject({ status: 'True' })
    expect(cluster.condition('Problems')).toMatchObject({ status: 'False', reason: 'None' })
    expect(cluster.status.failingWorkers).toBeUndefined()
  })
})
