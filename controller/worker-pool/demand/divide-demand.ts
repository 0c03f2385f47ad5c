import type { Demand } from '../scaling/decide.ts'
import { sumDemand } from './demand.ts'

/** Capacity and priority of a pool. */
export interface PoolCapacity {
  readonly key: string
  /** The queues whose jobs the workers of the pool run. */
  readonly queues: readonly string[]
  /** Among pools that share a queue, pools with a higher priority come first. */
  readonly priority: number
  /** Cost of one slot per hour. */
  readonly hourlyCost: number
  /** Max workers by the pool's own rules now; 0 for a pool whose engines are not ready. */
  readonly maxWorkers: number
  /** Workers that jobs require by the target of the pool. Monotonic in the number of jobs. */
  readonly workersFor: (demand: Demand) => number
}

/** The demand of one pool by queue. */
export type Share = ReadonlyMap<string, Demand>

/**
 * Assigns each job to exactly one pool that serves its queue: to the pool with the highest priority, then to the cheapest, until
 * that pool has all workers that its rules allow. The last pool that has capacity takes the jobs for which no pool has room. Queues
 * with the fewest pools that have capacity come first, because their jobs have no other pool.
 */
export function divideDemand(
  pools: readonly PoolCapacity[],
  demand: ReadonlyMap<string, Demand>,
): ReadonlyMap<string, Share> {
  const inOrder = [...pools].sort(
    (a, b) => b.priority - a.priority || a.hourlyCost - b.hourlyCost || (a.key < b.key ? -1 : 1),
  )
  const shares = new Map(inOrder.map(({ key }) => [key, new Map<string, Demand>()]))
  const queues = [...demand].map(([queue, jobs]) => {
    const candidates = inOrder.filter((pool) => pool.queues.includes(queue))
    return { queue, jobs, candidates, choices: candidates.filter(({ maxWorkers }) => maxWorkers > 0).length }
  })
  for (const { queue, jobs, candidates } of queues.sort((a, b) => a.choices - b.choices)) {
    let left: Demand = jobs
    const withCapacity = candidates.findLastIndex(({ maxWorkers }) => maxWorkers > 0)
    const last = withCapacity === -1 ? candidates.length - 1 : withCapacity
    for (const [i, pool] of candidates.entries()) {
      const share = shares.get(pool.key) as Map<string, Demand>
      const before = [...share.values()]
      const part =
        i === last ? left : takeInto(left, (some) => pool.workersFor(sumDemand([...before, some])) <= pool.maxWorkers)
      share.set(queue, part)
      left = without(left, part)
    }
  }
  return shares
}

/** The max number of jobs that fit. */
function takeInto(jobs: Demand, fits: (some: Demand) => boolean): Demand {
  const all = jobs.waiting + jobs.inFlight
  if (fits(take(jobs, all))) return take(jobs, all)
  let [most, tooMany] = [0, all]
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2)
    if (fits(take(jobs, middle))) most = middle
    else tooMany = middle
  }
  return take(jobs, most)
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
