import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Redis } from '../../shared/queue/redis.ts'
import { countTogether } from './count-together.ts'
import { createLastCounts } from './last-counts.ts'
import { within } from './time-limit.ts'

/** Timeout of the shared counter, after which it counts as unavailable and is not called for `BYPASS_MS`. */
const COUNTER_TIMEOUT_MS = 100
const BYPASS_MS = 1000

/**
 * Maximum number of requests that one replica counts in advance, and their maximum share of a budget. Budgets below
 * 1,000 are counted without advance.
 */
const MAX_AHEAD = 64
const SHARE_AHEAD = 0.001

export interface Spent {
  readonly allowed: boolean
  readonly remaining: number
  /** Seconds until the full budget is available again. */
  readonly resetSeconds: number
  /** Seconds until one more point may be spent, after a refusal. */
  readonly retrySeconds: number
}

/** Spends one or more points of an ID and returns whether the ID was within its budget. */
export type RateLimiter = (id: string, points?: number) => Promise<Spent>

/**
 * A budget of `points` per window of `seconds` for each ID, shared by all replicas. While Redis does not respond in
 * time, each replica continues from the last known count and adds its own requests to the shared count later. A window
 * starts with the first spent point. `name` separates budgets.
 */
export function createRateLimiter({
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
  /** Called for each count that was made without Redis. */
  onLocal?: () => void
}): RateLimiter {
  const window = { points, duration: seconds, keyPrefix: `drape:rate:${name}` }
  const shared = new RateLimiterRedis({ ...window, storeClient: redis.client, useRedisPackage: true })
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

/** Local state of shared counters, used while Redis does not respond. */
export interface LocalState<A, C> {
  /** Requests that the shared counter is missing; they count as added from now on. */
  takeOwed(id: string): number
  /** Records a response of the shared counter. */
  note(id: string, answer: A): C
  /** Counts requests on top of the last known state, because the shared counter did not respond. */
  add(id: string, counting: { readonly requests: number; readonly owed: number }): C
}

/** Counts requests with `spend`, or locally with `last` while Redis is unavailable or slow. */
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
  last: LocalState<A, C>
  points: number
  now: () => number
  onLocal?: (() => void) | undefined
}): (id: string, requests?: number) => Promise<C> {
  let bypassUntil = 0
  const count = async (id: string, requests: number): Promise<C> => {
    if (redis.isReady() && now() >= bypassUntil) {
      const owed = last.takeOwed(id)
      try {
        return last.note(id, await within(COUNTER_TIMEOUT_MS, spend(id, requests + owed)))
      } catch {
        // A late response has counted these requests too: a slow Redis must not count them twice.
        bypassUntil = now() + BYPASS_MS
        onLocal()
        return last.add(id, { requests, owed: 0 })
      }
    }
    onLocal()
    return last.add(id, { requests, owed: requests })
  }
  return countTogether(count, { maxAhead: Math.min(MAX_AHEAD, Math.floor(points * SHARE_AHEAD)) })
}

/** A refusal is a result too; only errors of the counter are thrown. */
async function settle(counting: Promise<RateLimiterRes>): Promise<{ total: number; ms: number }> {
  const { consumedPoints, msBeforeNext } = await counting.catch((reason) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
  return { total: consumedPoints, ms: msBeforeNext }
}
