import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { createCache } from '../../shared/process/cache.ts'
import type { Redis } from '../../shared/queue/redis.ts'
import { type Counted, countTogether } from './count-together.ts'
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

/** Maximum number of IDs that a replica counts for itself; the least recently counted ones are evicted first. */
export const MAX_OWN = 20_000

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
 * time, each replica counts for itself. A window starts with the first spent point. `name` separates budgets.
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
  const own = createCache<{ readonly total: number; readonly endsAt: number }>({ max: MAX_OWN })
  const spendAlone = async (id: string, requests: number): Promise<Counted> => {
    const known = own.get(id)
    const begun = known !== undefined && known.endsAt > now() ? known : { total: 0, endsAt: now() + seconds * 1000 }
    own.set(id, { ...begun, total: begun.total + requests })
    return { total: begun.total + requests, resetSeconds: Math.ceil((begun.endsAt - now()) / 1000) }
  }
  const count = createCounting({
    redis,
    spend: (id, requests) => settle(shared.consume(id, requests)),
    spendAlone,
    points,
    now,
    onLocal,
  })

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

/** Counts requests with `spend`, or with `spendAlone` while Redis is unavailable or slow. */
export function createCounting<C extends { readonly total: number }>({
  redis,
  spend,
  spendAlone,
  points,
  now,
  onLocal = () => {},
}: {
  redis: Redis
  spend: (id: string, requests: number) => Promise<C>
  spendAlone: (id: string, requests: number) => Promise<C>
  points: number
  now: () => number
  onLocal?: (() => void) | undefined
}): (id: string, requests?: number) => Promise<C> {
  let bypassUntil = 0
  const count = async (id: string, requests: number): Promise<C> => {
    if (redis.isReady() && now() >= bypassUntil) {
      try {
        return await within(COUNTER_TIMEOUT_MS, spend(id, requests))
      } catch {
        bypassUntil = now() + BYPASS_MS
      }
    }
    onLocal()
    return spendAlone(id, requests)
  }
  return countTogether(count, { maxAhead: Math.min(MAX_AHEAD, Math.floor(points * SHARE_AHEAD)) })
}

/** A refusal is a result too; only errors of the counter are thrown. */
async function settle(counting: Promise<RateLimiterRes>): Promise<Counted> {
  const { consumedPoints, msBeforeNext } = await counting.catch((reason) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
  return { total: consumedPoints, resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) }
}
