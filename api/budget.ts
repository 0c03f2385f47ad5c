import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { type Counted, countTogether } from './count-together.ts'
import type { Redis } from './shared/redis.ts'
import { within } from './time-limit.ts'

/** A counter that takes longer than this counts as away, and is left alone for a while. */
const ANSWER_MS = 100
const DISTRUST_MS = 1000

/** The most that one replica counts before it comes, and the share of a budget; budgets below a thousand are counted one by one. */
const MOST_AHEAD = 64
const SHARE_AHEAD = 0.001

export interface Spent {
  readonly allowed: boolean
  readonly remaining: number
  /** Until the budget is whole again. */
  readonly resetSeconds: number
}

/** Spends one of what the id may do; tells whether it still may. */
export type Budget = (id: string) => Promise<Spent>

/**
 * So many `points` in each window of so many `seconds` for each id, counted over all replicas; while Redis is away each replica
 * counts alone. A window starts with the first that is spent. `name` keeps budgets apart.
 */
export function createBudget({
  redis,
  name,
  points,
  seconds,
  now = Date.now,
}: {
  redis: Redis
  name: string
  points: number
  seconds: number
  now?: () => number
}): Budget {
  const window = { points, duration: seconds, keyPrefix: `drape:rate:${name}` }
  // It is waited for here; a time limit of the client's own for each command would cost as much as the command.
  const storeClient = redis.client.withCommandOptions({ timeout: 0 })
  const shared = new RateLimiterRedis({ ...window, storeClient, useRedisPackage: true })
  const local = new RateLimiterMemory(window)
  let distrustedUntil = 0

  const count = async (id: string, requests: number): Promise<Counted> => {
    if (redis.isReady() && now() >= distrustedUntil) {
      try {
        return await within(ANSWER_MS, settle(shared.consume(id, requests)))
      } catch {
        distrustedUntil = now() + DISTRUST_MS
      }
    }
    return settle(local.consume(id, requests))
  }
  const countOne = countTogether(count, { mostAhead: Math.min(MOST_AHEAD, Math.floor(points * SHARE_AHEAD)) })

  return async (id) => {
    const { total, resetSeconds } = await countOne(id)
    return { allowed: total <= points, remaining: Math.max(0, points - total), resetSeconds }
  }
}

/** A refusal is an answer too; only a fault of the counter is thrown. */
async function settle(counting: Promise<RateLimiterRes>): Promise<Counted> {
  const { consumedPoints, msBeforeNext } = await counting.catch((reason) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
  return { total: consumedPoints, resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) }
}
