import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { KubernetesError } from '../../../controller/runtime/kubernetes-error.ts'
import { createWorkQueue, type Done, type WorkQueueOptions } from '../../../controller/runtime/work-queue.ts'
import { until } from '../../support/until.ts'

describe('the work queue', () => {
  it('processes a key once when added several times', async () => {
    const worked: string[] = []
    const queue = start(worked)
    for (let i = 0; i < 5; i++) queue.add('a')
    queue.add('b')
    expect(queue.depth()).toBe(2)
    queue.setLeading(true)
    await until(() => worked.length === 2)
    expect(worked).toEqual(['a', 'b'])
    await queue.close()
  })

  it('processes a key again when added during processing, never concurrently', async () => {
    const gates: (() => void)[] = []
    let [atOnce, most] = [0, 0]
    const queue = createWorkQueue({
      concurrency: 4,
      reconcile: async () => {
        most = Math.max(most, ++atOnce)
        await new Promise<void>((resolve) => gates.push(resolve))
        atOnce--
        return undefined
      },
    })
    queue.setLeading(true)
    queue.add('a')
    queue.add('a')
    queue.add('a')
    expect(gates).toHaveLength(1)
    gates[0]()
    await until(() => gates.length === 2)
    gates[1]()
    await queue.close()
    expect(most).toBe(1)
    expect(gates).toHaveLength(2)
  })

  it('limits the number of concurrent keys', async () => {
    let [atOnce, most] = [0, 0]
    const worked = new Set<string>()
    const queue = createWorkQueue({
      concurrency: 3,
      reconcile: async (key) => {
        most = Math.max(most, ++atOnce)
        await sleep(1)
        worked.add(key)
        atOnce--
        return undefined
      },
    })
    queue.setLeading(true)
    for (let i = 0; i < 20; i++) queue.add(`key-${i}`)
    await until(() => worked.size === 20)
    expect(most).toBe(3)
  })

  it('retries a failed key with growing backoff, reset after a success', async () => {
    const failures: number[] = []
    const pauses: number[] = []
    let last = performance.now()
    const queue = createWorkQueue({
      concurrency: 1,
      firstPauseMs: 20,
      reconcile: async (_, before) => {
        pauses.push(performance.now() - last)
        last = performance.now()
        failures.push(before)
        if (failures.length < 4) throw new Error('not yet')
        return failures.length === 4 ? { againMs: 1 } : undefined
      },
    })
    queue.setLeading(true)
    queue.add('a')
    await until(() => failures.length === 5)
    expect(failures).toEqual([0, 1, 2, 3, 0])
    expect(pauses[1]).toBeGreaterThanOrEqual(14)
    expect(pauses[2]).toBeGreaterThanOrEqual(29)
    expect(pauses[3]).toBeGreaterThanOrEqual(59)
    await queue.close()
  })

  it('delays a key as the API server requests', async () => {
    const times: number[] = []
    const queue = createWorkQueue({
      concurrency: 1,
      firstPauseMs: 1,
      reconcile: async () => {
        times.push(performance.now())
        if (times.length === 1) throw new KubernetesError(429, 'too many requests', { retryAfterSeconds: 0.15 })
        return undefined
      },
    })
    queue.setLeading(true)
    queue.add('a')
    await until(() => times.length === 2)
    expect(times[1] - times[0]).toBeGreaterThanOrEqual(149)
    await queue.close()
  })

  it('keeps the earliest requested time', async () => {
    const worked: string[] = []
    const queue = start(worked)
    queue.setLeading(true)
    queue.add('soon', 60_000)
    queue.add('soon', 5)
    queue.add('now', 60_000)
    queue.add('now')
    await until(() => worked.length === 2)
    expect(worked).toEqual(['now', 'soon'])
    await queue.close()
  })

  it('processes nothing while suspended', async () => {
    const worked: string[] = []
    const queue = start(worked)
    queue.add('a')
    await sleep(20)
    expect(worked).toEqual([])
    queue.setLeading(true)
    await queue.close()
    expect(worked).toEqual(['a'])
  })

  it('processes all existing keys when it becomes the leader', async () => {
    const worked: string[] = []
    const queue = start(worked, { keys: () => ['a', 'b'] })
    queue.add('a', 60_000)
    queue.setLeading(true)
    await until(() => worked.length === 2)
    queue.setLeading(false)
    queue.setLeading(true)
    await until(() => worked.length === 4)
    expect(worked).toEqual(['a', 'b', 'a', 'b'])
    await queue.close()
  })

  it.for([
    ['again', new KubernetesError(409, 'conflict'), 0],
    ['again', new KubernetesError(0, 'fenced', { reason: 'NotLeader' }), 0],
    ['failed', new KubernetesError(500, 'broken'), 1],
    ['failed', new Error('a defect'), 1],
  ] as const)('reports %s for %s', async ([outcome, error, count]) => {
    const [outcomes, reported]: [string[], unknown[]] = [[], []]
    const queue = createWorkQueue({
      concurrency: 1,
      firstPauseMs: 1,
      reconcile: async () => {
        if (outcomes.length === 0) throw error
        return undefined
      },
      onDone: (_, seconds, each) => outcomes.push(seconds >= 0 ? each : 'no time'),
      onFailure: (_, each) => reported.push(each),
    })
    queue.add('a')
    queue.setLeading(true)
    await until(() => outcomes.length === 2)
    expect(outcomes).toEqual([outcome, 'done'])
    expect(reported).toEqual(Array(count).fill(error))
    await queue.close()
  })
})

function start(worked: string[], options: Partial<WorkQueueOptions> = {}) {
  const reconcile = async (key: string): Promise<Done | undefined> => {
    worked.push(key)
    return undefined
  }
  return createWorkQueue({ concurrency: 1, reconcile, ...options })
}
