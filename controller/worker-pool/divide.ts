import { isDeepStrictEqual } from 'node:util'
import { type BudgetRoom, createBudgetRoom, type SharedBudget } from './budget-share.ts'
import type { Demand } from './decide.ts'
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
  /** Additional workers while the pool has jobs. */
  readonly idleBuffer: number
}

/** The demand of one pool by queue. */
export type Share = ReadonlyMap<string, Demand>

/** Max passes; claims on the budgets converge earlier in practice. */
const MAX_PASSES = 10

/**
 * Assigns each job to exactly one pool that serves its queue: to the pool with the highest priority, then to the cheapest, until
 * that pool has all workers that its rules and the cost budgets allow. The last pool that has capacity takes the jobs for which no
 * pool has room. Queues with the fewest pools that have capacity come first, because their jobs have no other pool.
 */
export function divideDemand(
  pools: readonly PoolCapacity[],
  demand: ReadonlyMap<string, Demand>,
  budgets: readonly SharedBudget[] = [],
): ReadonlyMap<string, Share> {
  const inOrder = [...pools].sort(
    (a, b) => b.priority - a.priority || a.hourlyCost - b.hourlyCost || (a.key < b.key ? -1 : 1),
  )
  const held = budgets.flatMap(({ members }) => members.map(({ key, held }) => [key, held] as const))
  let claimed = new Map(held)
  for (let pass = 1; ; pass++) {
    const { shares, claims } = divideOnce(inOrder, demand, createBudgetRoom(budgets, claimed))
    // Workers that a pool gets beyond its room still precede the pools after it.
    const next = new Map(held.map(([key, workers]) => [key, Math.max(workers, claims.get(key) ?? 0)]))
    if (isDeepStrictEqual(next, claimed) || pass === MAX_PASSES) return shares
    claimed = next
  }
}

/** `claims` contains the workers that each pool claims of the cost budgets. */
function divideOnce(inOrder: readonly PoolCapacity[], demand: ReadonlyMap<string, Demand>, room: BudgetRoom) {
  const shares = new Map(inOrder.map(({ key }) => [key, new Map<string, Demand>()]))
  const claims = new Map<string, number>()
  const allowedOf = ({ key, maxWorkers }: PoolCapacity) => Math.min(maxWorkers, room.maxWorkers(key))
  const queues = [...demand].map(([queue, jobs]) => {
    const candidates = inOrder.filter((pool) => pool.queues.includes(queue))
    return { queue, jobs, candidates, choices: candidates.filter((pool) => allowedOf(pool) > 0).length }
  })
  for (const { queue, jobs, candidates } of queues.sort((a, b) => a.choices - b.choices)) {
    let left: Demand = jobs
    const withCapacity = candidates.findLastIndex((pool) => allowedOf(pool) > 0)
    const last = withCapacity === -1 ? candidates.length - 1 : withCapacity
    for (const [i, pool] of candidates.entries()) {
      const share = shares.get(pool.key) as Map<string, Demand>
      const workers = allowedOf(pool)
      const before = [...share.values()]
      const part =
        i === last ? left : takeInto(left, (some) => pool.workersFor(sumDemand([...before, some])) <= workers)
      share.set(queue, part)
      left = without(left, part)
      const required = Math.min(pool.maxWorkers, requiredBy(pool, sumDemand([...before, part])))
      claims.set(pool.key, room.assign(pool.key, required))
    }
  }
  return { shares, claims }
}

function requiredBy({ workersFor, idleBuffer }: PoolCapacity, demand: Demand): number {
  return demand.waiting + demand.inFlight === 0 ? 0 : workersFor(demand) + idleBuffer
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
