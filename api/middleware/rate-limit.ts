import type { Middleware } from 'koa'
import { type Budget, createBudget } from '../budget.ts'
import { DrapeError } from '../shared/errors.ts'
import type { Redis } from '../shared/redis.ts'
import type { AppState } from '../state.ts'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Requests a minute of an account without settings of its own. */
const DEFAULTS = { reads: 600, writes: 100 } as const

/** A budget of this size or less may be spent at once. */
const SMALLEST_BURST = 20
/** Larger ones are given out in parts of a minute. */
const PARTS = 5

/**
 * Spends one request of the account's budget, reads and writes apart, counted over all replicas; while Redis is away each
 * replica counts alone. Sets `RateLimit-Limit` (requests a minute), `RateLimit-Remaining` (those that may come at once now) and
 * `RateLimit-Reset` (seconds until that many may come again). Throws `RATE_LIMITED` with `Retry-After`.
 */
export function rateLimit({ redis, now = Date.now }: { redis: Redis; now?: () => number }): Middleware<AppState> {
  const budgets = new Map<string, Budget>()
  function budgetOf(kind: keyof typeof DEFAULTS, perMinute: number): Budget {
    const name = `${kind}:${perMinute}`
    const known = budgets.get(name) ?? createBudget({ redis, name, ...windowOf(perMinute), now })
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

/** The part of the minute's budget that may be spent at once, and the time in which that part comes again. */
function windowOf(perMinute: number): { points: number; seconds: number } {
  const points = Math.min(perMinute, Math.max(SMALLEST_BURST, Math.ceil(perMinute / PARTS)))
  return { points, seconds: Math.ceil((60 * points) / Math.max(1, perMinute)) || 60 }
}
