import type { Redis } from './redis.ts'

/** Workers that run the same engines. They share one queue, so that no worker sees a job that it cannot run. */
export interface Lane {
  readonly queue: string
  readonly engines: readonly string[]
  /** Of its live workers. */
  readonly slots: number
}

/** Workers that begin to take jobs say so here. */
export const WORKERS_CHANNEL = 'drape:workers:arrived'

/** The queue of the release before lanes: all its workers share it, and hand back what they cannot run. */
const OLD_QUEUE = 'try-on'

/** The queue of workers that run these engines. */
export function laneQueue(engines: readonly string[]): string {
  return `try-on.${[...new Set(engines)].sort().join(',')}`
}

/** The lanes that have live workers; none while Redis is away. */
export async function findLanes(redis: Pick<Redis, 'findTryOnWorkers'>): Promise<Lane[]> {
  const workers = await redis.findTryOnWorkers()
  const byQueue = Map.groupBy(workers, ({ engines, isOld }) => (isOld ? OLD_QUEUE : laneQueue(engines)))
  return [...byQueue].map(([queue, members]) => ({
    queue,
    engines: [...new Set(members.flatMap(({ engines }) => engines))].sort(),
    slots: members.reduce((sum, { slots }) => sum + slots, 0),
  }))
}
