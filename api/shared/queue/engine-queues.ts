import type { Redis } from './redis.ts'

/** Workers that run the same engines. They share a queue, so that no worker receives a job that it cannot run. */
export interface EngineQueue {
  readonly queue: string
  readonly engines: readonly string[]
  /** Slots of its live workers. */
  readonly slots: number
}

/** Channel on which workers announce that they have started taking jobs. */
export const WORKERS_CHANNEL = 'drape:workers:arrived'

/** The queue of workers that run these engines. */
export function engineQueueName(engines: readonly string[]): string {
  return `try-on.${[...new Set(engines)].sort().join(',')}`
}

/** The engine queues that have live workers; empty while Redis is unavailable. */
export async function findEngineQueues(redis: Pick<Redis, 'findWorkers'>): Promise<EngineQueue[]> {
  const slots = new Map<readonly string[], number>()
  for (const worker of await redis.findWorkers('try-on'))
    slots.set(worker.engines, (slots.get(worker.engines) ?? 0) + worker.slots)
  const byQueue = Map.groupBy([...slots], ([engines]) => engineQueueName(engines))
  return [...byQueue].map(([queue, lists]) => ({
    queue,
    engines: [...new Set(lists.flatMap(([engines]) => engines))].sort(),
    slots: lists.reduce((sum, [, count]) => sum + count, 0),
  }))
}
