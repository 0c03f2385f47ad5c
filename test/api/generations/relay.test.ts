import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { createRelay, type RelayOptions } from '../../../api/generations/relay.ts'
import type { EngineQueue } from '../../../api/shared/queue/engine-queues.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('the relay dispatches when a worker announces itself, without waiting for the next poll', async () => {
  const engineQueues: EngineQueue[] = []
  const claimed: string[] = []
  let looks = 0
  const parts = {
    outbox: {
      claim: async ({ queue }: EngineQueue) => {
        claimed.push(queue)
        return { jobs: [], room: 1 }
      },
    },
    queues: {
      isReady: () => true,
      findEngineQueues: async () => {
        looks++
        return [...engineQueues]
      },
      add: async () => {},
      removeLost: async () => [],
    },
    generations: {},
    log: createLog({ process: 'test', level: 'silent' }),
    metrics: createMetrics('test'),
  }
  // Time stands still: nothing becomes due.
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  const relay = createRelay(parts as unknown as RelayOptions)
  while (looks === 0) await nextTurn()
  engineQueues.push({ queue: 'try-on.mock', engines: ['mock'], slots: 1 })
  relay.noteWorker()
  while (claimed.length === 0) await nextTurn()
  expect([looks, claimed]).toEqual([2, ['try-on.mock']])
  await relay.stop()
})
