import { setTimeout as sleep } from 'node:timers/promises'
import { createRedis, QUEUES, type Redis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { CheckFailure } from '../failure.ts'
import { redisUrl } from './environment.ts'

const CONNECT_MS = 5000
const log = createLog({ process: 'check', level: 'silent' })

/** Live workers accept jobs of every queue. */
export async function checkWorkers(): Promise<Record<string, unknown>> {
  const redis = createRedis(redisUrl(), { role: 'producer', log })
  try {
    await becomesReady(redis)
    const slots: Record<string, number> = {}
    for (const queue of QUEUES) {
      slots[queue] = await redis.countSlots(queue)
      if (slots[queue] === 0) throw new CheckFailure(`No worker accepts jobs of the queue ${queue}`)
    }
    return { slots }
  } finally {
    await redis.close()
  }
}

/** @throws CheckFailure if Redis does not respond in time */
export async function becomesReady(redis: Redis): Promise<void> {
  const deadline = performance.now() + CONNECT_MS
  while (!redis.isReady()) {
    if (performance.now() > deadline) throw new CheckFailure('Redis does not respond', { cause: redis.fault() })
    await sleep(20)
  }
}
