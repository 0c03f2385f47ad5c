import type { Consumer } from '../../api/shared/queue/queue.ts'
import type { Redis } from '../../api/shared/queue/redis.ts'

/**
 * Interval between two checks. An idle worker that takes no job between two checks while jobs wait at both is stuck; its
 * supervisor restarts it.
 */
const EVERY_MS = 60_000

/** Stops the worker if waiting jobs are not consumed. */
export function watchQueues({
  redis,
  consumers,
  canWork,
  onStuck,
  everyMs = EVERY_MS,
}: {
  redis: Pick<Redis, 'isReady' | 'countWaiting'>
  consumers: readonly Pick<Consumer, 'name' | 'isIdle' | 'countTaken'>[]
  canWork: () => boolean
  onStuck: (queue: string) => void
  everyMs?: number
}): { stop(): void } {
  const suspects = new Map<string, number>()
  const look = async (consumer: (typeof consumers)[number]) => {
    const { name } = consumer
    const taken = consumer.countTaken()
    const waits = redis.isReady() && canWork() && consumer.isIdle() && (await redis.countWaiting(name)) > 0
    const isSuspect = waits && consumer.countTaken() === taken
    if (isSuspect && suspects.get(name) === taken) onStuck(name)
    if (isSuspect) suspects.set(name, taken)
    else suspects.delete(name)
  }
  const timer = setInterval(() => {
    for (const consumer of consumers) look(consumer).catch(() => suspects.delete(consumer.name))
  }, everyMs)
  return { stop: () => clearInterval(timer) }
}
