import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Redis } from '../shared/redis.ts'
import { countTogether } from './count-together.ts'
import { createLastCounts } from './last-counts.ts'
import { within } from './time-limit.ts'

/** A counter that takes longer than this counts as away, and is left alone for a while. */
const ANSWER_MS = 100
const DISTRUST_MS = 1000

/** The most that one replica counts before it comes, and the share of a budget; budgets below a thousand are counted one by one. */
const MAX_AHEAD = 64
const SHARE_AHEAD = 0.001

export interface Spent {
  readonly allowed: boolean
  readonly remaining: number
  /** Until the budget is whole again. */
  readonly resetSeconds: number
  /** Until one more point may be spent, after a refusal. */
  readonly retrySeconds: number
}

/** Spends one point of the id, or several, and reports whether the id was within its budget. */
export type Budget = (id: string, points?: number) => Promise<Spent>

/**
 * So many `points` in each window of so many `seconds` for each id, counted over all replicas. While Redis does not answer in
 * time each replica goes on from the last count that it knows, and adds its own to the common count afterwards. A window starts
 * with the first that is spent. `name` keeps budgets apart.
 */
export function createBudget({
  redis,
  name,
  points,
  seconds,
  now = Date.now,
  onLocal,
}: {
  redis: Redis
  name: string
  points: number
  seconds: number
  now?: () => number
  /** Called for each count that Redis did not answer. */
  onLocal?: () => void
}): Budget {
  const window = { points, duration: seconds, keyPrefix: `drape:rate:${name}` }
  // It is waited for here; a time limit of the client's own for each command would cost as much as the command.
  const storeClient = redis.client.withCommandOptions({ timeout: 0 })
  const shared = new RateLimiterRedis({ ...window, storeClient, useRedisPackage: true })
  const spend = (id: string, requests: number) => settle(shared.consume(id, requests))
  const count = createCounting({ redis, spend, last: createLastCounts({ seconds, now }), points, now, onLocal })

  return async (id, spent) => {
    const { total, resetSeconds } = await count(id, spent)
    return {
      allowed: total <= points,
      remaining: Math.max(0, points - total),
      resetSeconds,
      retrySeconds: resetSeconds,
    }
  }
}

/** What a replica knows of common counters, to go on from while Redis does not answer. */
export interface LastKnown<A, C> {
  /** The requests that the common counter does not have; from now on it has them. */
  takeOwed(id: string): number
  /** The common counter answered. */
  note(id: string, answer: A): C
  /** The common counter did not answer: the requests count on top of what is known. */
  add(id: string, counting: { readonly requests: number; readonly owed: number }): C
}

/** Counts requests by `spend`, or by `last` alone while Redis is away or slow. */
export function createCounting<A, C extends { readonly total: number }>({
  redis,
  spend,
  last,
  points,
  now,
  onLocal = () => {},
}: {
  redis: Redis
  spend: (id: string, requests: number) => Promise<A>
  last: LastKnown<A, C>
  points: number
  now: () => number
  onLocal?: (() => void) | undefined
}): (id: string, requests?: number) => Promise<C> {
  let distrustedUntil = 0
  const count = async (id: string, requests: number): Promise<C> => {
    if (redis.isReady() && now() >= distrustedUntil) {
      const owed = last.takeOwed(id)
      try {
        return last.note(id, await within(ANSWER_MS, spend(id, requests + owed)))
      } catch {
        // A late answer has counted these requests too: a slow Redis must not count them twice.
        distrustedUntil = now() + DISTRUST_MS
        onLocal()
        return last.add(id, { requests, owed: 0 })
      }
    }
    onLocal()
    return last.add(id, { requests, owed: requests })
  }
  const countOne = countTogether(count, { maxAhead: Math.min(MAX_AHEAD, Math.floor(points * SHARE_AHEAD)) })
  return (id, requests = 1) => (requests === 1 ? countOne(id) : count(id, requests))
}

/** A refusal is an answer too; only a fault of the counter is thrown. */
async function settle(counting: Promise<RateLimiterRes>): Promise<{ total: number; ms: number }> {
  const { consumedPoints, msBeforeNext } = await counting.catch((reason) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
  return { total: consumedPoints, ms: msBeforeNext }
}
