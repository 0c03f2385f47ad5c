import { jobId, type TryOnJob } from '../shared/generation.ts'
import { findLanes, type Lane } from '../shared/lanes.ts'
import { createJobQueue, type JobQueue } from '../shared/queue.ts'
import type { Redis } from '../shared/redis.ts'

/** The names of all queues that ever held try-ons since Redis was empty. */
const NAMES = 'drape:try-on-queues'
const OLD_NAME = 'try-on'

/** An attempt of a generation, and where it was handed to. */
export interface Handed {
  readonly generationId: string
  readonly attempt: number
  readonly queue: string
}

export type TryOnQueues = ReturnType<typeof createTryOnQueues>

/** The queues of try-ons: one for each lane. */
export function createTryOnQueues(redis: Redis) {
  const opened = new Map<string, JobQueue<TryOnJob>>()
  const open = (name: string) => {
    const queue = opened.get(name) ?? createJobQueue<TryOnJob>({ redis, name })
    opened.set(name, queue)
    return queue
  }
  return {
    isReady: redis.isReady,
    findLanes: (): Promise<Lane[]> => findLanes(redis),
    add: async (name: string, jobs: readonly TryOnJob[]): Promise<void> => {
      await redis.client.sAdd(NAMES, name)
      await open(name).add(jobs.map((data) => ({ id: jobId(data.generationId, data.attempt), data })))
    },
    /**
     * Takes those out of their queues that no live worker holds or will take, and returns them. In a queue without live workers
     * a job only counts as held while a worker has it in hand.
     */
    takeForgotten: async (handed: readonly Handed[]): Promise<Handed[]> => {
      const lanes = handed.length === 0 ? [] : await findLanes(redis)
      const live = new Set(lanes.map(({ queue }) => queue))
      const parts = [...Map.groupBy(handed, ({ queue }) => queue)].map(async ([name, entries]) => {
        const ids = entries.map(({ generationId, attempt }) => jobId(generationId, attempt))
        const held = await (live.has(name) ? open(name).findHeld(ids) : redis.findLocked(name, ids))
        const forgotten = entries.filter((_, i) => !held.has(ids[i]))
        // What is left of such a job would stand in the way of its next dispatch.
        await open(name).remove(ids.filter((id) => !held.has(id)))
        return forgotten
      })
      return (await Promise.all(parts)).flat()
    },
    /** Drops jobs that no worker has taken, wherever they wait. */
    remove: async (ids: readonly string[]): Promise<void> => {
      const names = new Set([OLD_NAME, ...(await redis.client.sMembers(NAMES))])
      await Promise.all([...names].map((name) => open(name).remove(ids)))
    },
    close: () => Promise.all([...opened.values()].map((queue) => queue.close())),
  }
}
