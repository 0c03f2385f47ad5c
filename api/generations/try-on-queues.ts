import { jobId, type QueuedTryOn } from '../shared/generations/generation.ts'
import { type EngineQueue, findEngineQueues } from '../shared/queue/engine-queues.ts'
import { createJobQueue, type JobQueue } from '../shared/queue/queue.ts'
import type { Redis } from '../shared/queue/redis.ts'

/** Set of the names of all try-on queues since Redis was empty. */
const NAMES = 'drape:try-on-queues'
/** How long a name counts as stored. A Redis that was emptied lacks it until then. */
const STORED_MS = 1000

/** A dispatched attempt of a generation, and its queue. */
export interface DispatchedJob {
  readonly generationId: string
  readonly attempt: number
  readonly queue: string
}

export type TryOnQueues = ReturnType<typeof createTryOnQueues>

/** The try-on queues, one per engine queue. */
export function createTryOnQueues(redis: Redis) {
  const opened = new Map<string, JobQueue<QueuedTryOn>>()
  const storedAt = new Map<string, number>()
  const open = (name: string) => {
    const queue = opened.get(name) ?? createJobQueue<QueuedTryOn>({ redis, name })
    opened.set(name, queue)
    return queue
  }
  return {
    isReady: redis.isReady,
    findEngineQueues: (): Promise<EngineQueue[]> => findEngineQueues(redis),
    add: async (name: string, jobs: readonly QueuedTryOn[]): Promise<void> => {
      if (performance.now() - (storedAt.get(name) ?? Number.NEGATIVE_INFINITY) > STORED_MS) {
        await redis.client.sAdd(NAMES, name)
        storedAt.set(name, performance.now())
      }
      await open(name).add(
        jobs.map(({ generationId, attempt, engine, failedOn, traceparent }) => ({
          id: jobId(generationId, attempt),
          data: { generationId, attempt, engine, failedOn, traceparent },
        })),
      )
    },
    /**
     * Removes from their queues the jobs that no live worker holds or will take, and returns them. In a queue without
     * live workers, a job counts as held only while a worker holds it.
     */
    removeLost: async (dispatched: readonly DispatchedJob[]): Promise<DispatchedJob[]> => {
      const engineQueues = dispatched.length === 0 ? [] : await findEngineQueues(redis)
      const live = new Set(engineQueues.map(({ queue }) => queue))
      const parts = [...Map.groupBy(dispatched, ({ queue }) => queue)].map(async ([name, entries]) => {
        const ids = entries.map(({ generationId, attempt }) => jobId(generationId, attempt))
        const held = await (live.has(name) ? open(name).findHeld(ids) : redis.findLocked(name, ids))
        const forgotten = entries.filter((_, i) => !held.has(ids[i]))
        // Leftovers of such a job would block its next dispatch.
        await open(name).remove(ids.filter((id) => !held.has(id)))
        return forgotten
      })
      return (await Promise.all(parts)).flat()
    },
    /** Drops jobs that no worker has taken, in all queues. */
    remove: async (ids: readonly string[]): Promise<void> => {
      const names = await redis.client.sMembers(NAMES)
      await Promise.all(names.map((name) => open(name).remove(ids)))
    },
    /** Drops jobs that no worker has taken, and returns the count of those that a live worker holds. */
    drop: async (jobs: readonly { readonly id: string; readonly attempt: number }[]): Promise<number> => {
      if (jobs.length === 0) return 0
      const ids = jobs.map(({ id, attempt }) => jobId(id, attempt))
      const names = await redis.client.sMembers(NAMES)
      const held = await Promise.all(names.map((name) => redis.findLocked(name, ids)))
      const running = new Set(held.flatMap((locked) => [...locked]))
      const others = ids.filter((id) => !running.has(id))
      await Promise.all(names.map((name) => open(name).remove(others)))
      return running.size
    },
    close: () => Promise.all([...opened.values()].map((queue) => queue.close())),
  }
}
