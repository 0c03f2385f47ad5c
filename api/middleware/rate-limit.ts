import type { Middleware } from 'koa'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { type Counted, countTogether } from '../count-together.ts'
import { DrapeError } from '../shared/errors.ts'
import type { Redis } from '../shared/queue.ts'
import type { AppState } from '../state.ts'
import { within } from '../time-limit.ts'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Requests a minute of an account without settings of its own. */
const DEFAULTS = { reads: 600, writes: 100 } as const

/** A budget of this size or less may be spent at once. */
const SMALLEST_BURST = 20
/** Larger ones are given out in parts of a minute. */
const PARTS = 5

/** A counter that takes longer than this counts as away, and is left alone for a while. */
const ANSWER_MS = 100
const DISTRUST_MS = 1000

interface Spent {
  readonly allowed: boolean
  readonly remaining: number
  /** Until the budget is whole again. */
  readonly resetSeconds: number
}

/**
 * Spends one request of the account's budget, reads and writes apart, counted over all replicas; while Redis is away each
 * replica counts alone. Sets `RateLimit-Limit` (requests a minute), `RateLimit-Remaining` (those that may come at once now) and
 * `RateLimit-Reset` (seconds until that many may come again). Throws `RATE_LIMITED` with `Retry-After`.
 */
export function rateLimit({ redis, now = Date.now }: { redis: Redis; now?: () => number }): Middleware<AppState> {
  const budgets = new Map<string, Budget>()
  function budgetOf(kind: keyof typeof DEFAULTS, perMinute: number): Budget {
    const name = `${kind}:${perMinute}`
    const known = budgets.get(name) ?? createBudget({ redis, name, perMinute, now })
    budgets.set(name, known)
    return known
  }

  return async function limit(ctx, next) {
    const { id, settings } = ctx.state.account
    const kind = READS.has(ctx.method) ? 'reads' : 'writes'
    const perMinute = settings[`${kind}PerMinute`] ?? DEFAULTS[kind]
    const { allowed, remaining, resetSeconds } = await budgetOf(kind, perMinute)(id)
    ctx.set('RateLimit-Limit', String(perMinute))
    ctx.set('RateLimit-Remaining', String(remaining))
    ctx.set('RateLimit-Reset', String(resetSeconds))
    if (!allowed) {
      ctx.set('Retry-After', String(resetSeconds))
      throw new DrapeError('RATE_LIMITED', `The account has made too many ${kind}. Try again later.`)
    }
    await next()
  }
}

type Budget = (accountId: string) => Promise<Spent>

function createBudget({
  redis,
  name,
  perMinute,
  now,
}: {
  redis: Redis
  name: string
  perMinute: number
  now: () => number
}): Budget {
  const points = Math.min(perMinute, Math.max(SMALLEST_BURST, Math.ceil(perMinute / PARTS)))
  const window = {
    points,
    duration: Math.ceil((60 * points) / Math.max(1, perMinute)) || 60,
    keyPrefix: `drape:rate:${name}`,
  }
  const shared = new RateLimiterRedis({ ...window, storeClient: redis.client, useRedisPackage: true })
  const local = new RateLimiterMemory(window)
  let distrustedUntil = 0

  const count = async (accountId: string, requests: number): Promise<Counted> => {
    if (redis.isReady() && now() >= distrustedUntil) {
      try {
        return await within(ANSWER_MS, settle(shared.consume(accountId, requests)))
      } catch {
        distrustedUntil = now() + DISTRUST_MS
      }
    }
    return settle(local.consume(accountId, requests))
  }
  const countOne = countTogether(count)

  return async (accountId) => {
    const { total, resetSeconds } = await countOne(accountId)
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
