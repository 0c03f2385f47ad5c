import type { Demand } from './decide.ts'

/** The lane of photos to prepare, for pools with the queue `prepare`. Names of engines contain no underscore. */
export const PREPARE_LANE = '_prepare'

/** The capacity of a pool, and its place among other pools. */
export interface Taker {
  readonly key: string
  /** The lanes whose jobs the workers of the pool run. */
  readonly lanes: readonly string[]
  /** Among pools that share a lane, the pool with the higher number comes first. */
  readonly priority: number
  /** Cost of one slot per hour. */
  readonly hourlyCost: number
  /** Slots of all workers that the pool may have now; 0 for a pool whose engines are not ready. */
  readonly maxSlots: number
  /** Jobs of a lane per slot, by the target of the pool. */
  readonly jobsPerSlot: (demand: Demand) => number
}

/** The demand of one pool by lane. */
export type Share = ReadonlyMap<string, Demand>

/**
 * Assigns each job to exactly one pool that serves its lane: to the pool with the highest priority, then to the cheapest, until
 * that pool is at its bound. The last pool that has capacity takes the jobs for which no pool has room. Lanes with the fewest pools
 * come first, because their jobs have no other pool.
 */
export function divideDemand(pools: readonly Taker[], demand: ReadonlyMap<string, Demand>): ReadonlyMap<string, Share> {
  const inOrder = [...pools].sort(
    (a, b) => b.priority - a.priority || a.hourlyCost - b.hourlyCost || (a.key < b.key ? -1 : 1),
  )
  const shares = new Map(pools.map(({ key }) => [key, new Map<string, Demand>()]))
  const free = new Map(pools.map(({ key, maxSlots }) => [key, maxSlots]))
  const lanes = [...demand].map(([lane, jobs]) => ({
    ...{ lane, jobs },
    takers: inOrder.filter((pool) => pool.lanes.includes(lane)),
  }))
  for (const { lane, jobs, takers } of lanes.sort((a, b) => a.takers.length - b.takers.length)) {
    let left: Demand = jobs
    const withCapacity = takers.findLastIndex(({ maxSlots }) => maxSlots > 0)
    const last = withCapacity === -1 ? takers.length - 1 : withCapacity
    for (const [i, { key, jobsPerSlot }] of takers.entries()) {
      const slots = free.get(key) ?? 0
      const perSlot = jobsPerSlot(jobs)
      const isLast = i === last
      const part = take(left, isLast ? Number.POSITIVE_INFINITY : Math.floor(slots * perSlot + 1e-9))
      free.set(key, Math.max(0, slots - (part.waiting + part.inFlight) / perSlot))
      shares.get(key)?.set(lane, part)
      left = without(left, part)
    }
  }
  return shares
}

/** Takes at most `room` jobs, running jobs first. */
function take({ waiting, inFlight, oldestWaitSeconds, secondsPerJob }: Demand, room: number): Demand {
  const running = Math.min(inFlight, room)
  const next = Math.min(waiting, room - running)
  return {
    waiting: next,
    inFlight: running,
    oldestWaitSeconds: next > 0 ? oldestWaitSeconds : 0,
    secondsPerJob,
  }
}

function without(all: Demand, part: Demand): Demand {
  return { ...all, waiting: all.waiting - part.waiting, inFlight: all.inFlight - part.inFlight }
}
