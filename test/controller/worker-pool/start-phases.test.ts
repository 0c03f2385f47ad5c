import { describe, expect, it } from 'vitest'
import { keepOfPod, type Pod, readPod, startPhases } from '../../../controller/worker-pool/workers/pods.ts'
import { ModelCluster } from './model-cluster.ts'

describe('the start of a worker', () => {
  it('is recorded once, when the worker is first ready', async () => {
    const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
    const cluster = new ModelCluster({ engines: ['mock'], replicas: 2, scaling: { mode: 'Fixed' }, template })
    cluster.isPlaced = () => false
    const setReady = (ready: boolean) => {
      for (const pod of cluster.pods.values())
        pod.object = {
          ...pod.object,
          status: {
            phase: 'Running',
            conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
            containerStatuses: [{ name: 'worker', started: true }],
          },
        }
    }
    await cluster.run(3)
    expect(cluster.pods.size).toBe(2)
    const noted: number[] = []
    for (const ready of [false, true, false, true]) {
      setReady(ready)
      await cluster.run(3)
      noted.push(cluster.starts)
    }
    expect(noted).toEqual([0, 2, 2, 2])
  })

  it('is recorded with the duration of a download, which can be reported after the worker is ready', async () => {
    const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
    const cluster = new ModelCluster({ engines: ['mock'], replicas: 1, scaling: { mode: 'Fixed' }, template })
    cluster.isPlaced = () => false
    await cluster.run(3)
    for (const pod of cluster.pods.values())
      pod.object = {
        ...pod.object,
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [{ name: 'worker', started: true, ready: true }],
          initContainerStatuses: [{ name: 'check-fetched', ready: true }],
        },
      }
    await cluster.run(3)
    expect(cluster.starts).toBe(0)
    cluster.downloadSeconds = 41.2
    await cluster.run(3)
    expect(cluster.starts).toBe(1)
  })
})

describe('the phases of the start of a worker', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString()
  const started: Pod = {
    metadata: { name: 'gpu-workers-1', namespace: 'shop', creationTimestamp: at(0) },
    status: {
      conditions: [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: at(3) },
        { type: 'Initialized', status: 'True', lastTransitionTime: at(5) },
        { type: 'ContainersReady', status: 'True', lastTransitionTime: at(37) },
        { type: 'Ready', status: 'True', lastTransitionTime: at(37) },
      ],
      containerStatuses: [{ name: 'worker', started: true, state: { running: { startedAt: at(25) } } }],
    },
  }

  it('are measured between pod timestamps, some of which the controller stores', () => {
    expect(startPhases(keepOfPod(started))).toEqual({ scheduling: 3, initialization: 2, image: 20, warmup: 12 })
  })

  it('have the download beside the others', () => {
    expect(startPhases(keepOfPod(started), 31.6)).toMatchObject({ initialization: 2, warmup: 12, download: 32 })
  })

  it('are unknown without one of the timestamps', () => {
    const unready = started.status?.conditions?.map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'False' } : condition,
    )
    expect(startPhases({ ...started, status: { ...started.status, conditions: unready } })).toBeNull()
    expect(startPhases({ ...started, status: { ...started.status, containerStatuses: [] } })).toBeNull()
  })

  it('begin before a worker that waits for files has been ready once', () => {
    const startedIf = (status: string, second: number, { isComplete = false, isWorkerReady = false } = {}) => {
      const conditions = [{ type: 'Ready', status, lastTransitionTime: at(second) }]
      const initContainerStatuses = [{ name: 'check-large', ready: isComplete }]
      const containerStatuses = started.status?.containerStatuses?.map((each) => ({ ...each, ready: isWorkerReady }))
      const changed = { ...started.status, conditions, initContainerStatuses, containerStatuses }
      return readPod(keepOfPod({ ...started, status: changed })).started
    }
    expect(startedIf('False', 3)).toBe(false)
    expect(startedIf('False', 25)).toBe(false)
    expect(startedIf('True', 37)).toBe(true)
    // It takes jobs, although its pod has never been ready.
    expect(startedIf('False', 3, { isComplete: true })).toBe(true)
    expect(startedIf('False', 3, { isWorkerReady: true })).toBe(true)
    // It became unready later, and may still have a job.
    expect(startedIf('False', 40)).toBe(true)
    expect(readPod(keepOfPod({ ...started, status: { ...started.status, conditions: [] } })).started).toBe(true)
  })
})
