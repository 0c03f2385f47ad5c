import type { Middleware } from 'koa'
import type { Budget } from '../limits/budget.ts'
import { createTokenBucket } from '../limits/token-bucket.ts'
import { DrapeError } from '../shared/errors.ts'
import type { Redis } from '../shared/redis.ts'
import type { AppState } from '../state.ts'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Requests a minute of an account without settings of its own. */
const DEFAULTS = { reads: 600, writes: 100, polls: 300 } as const

/** Parts of a minute's reads that may come at once. Writes may come at once for a whole minute: a catalogue is sent in bursts. */
const PARTS_OF_READS = 5
/** A budget of this size or less may be spent at once. */
const MIN_BURST = 20

/**
 * Spends one request of the account's token bucket, reads, writes and `polls` of listeners apart, common to all replicas; while Redis does not answer in
 * time each replica goes on from the last level that it knows. Sets `RateLimit-Limit` (requests a minute), `RateLimit-Remaining`
 * (requests that may come at once now) and `RateLimit-Reset` (seconds until the bucket is full again). Throws `RATE_LIMITED` with
 * `Retry-After`: the seconds until there is room for this request, so that requests that came together return one after another.
 */
export function rateLimit({
  redis,
  kind: given,
  now = Date.now,
  onLocal,
}: {
  redis: Redis
  /** Default: reads or writes, by the method. */
  kind?: 'polls'
  now?: () => number
  onLocal?: () => void
}): Middleware<AppState> {
  const budgets = new Map<string, Budget>()
  function budgetOf(kind: keyof typeof DEFAULTS, perMinute: number): Budget {
    const name = `${kind}:${perMinute}`
    const known =
      budgets.get(name) ?? createTokenBucket({ redis, name, burst: burstOf(kind, perMinute), perMinute, now, onLocal })
    budgets.set(name, known)
    return known
  }

  return async function limit(ctx, next) {
    const { id, settings } = ctx.state.account
    const kind = given ?? (READS.has(ctx.method) ? 'reads' : 'writes')
    const perMinute = (kind === 'polls' ? undefined : settings[`${kind}PerMinute`]) ?? DEFAULTS[kind]
    const { allowed, remaining, resetSeconds, retrySeconds } = await budgetOf(kind, perMinute)(id)
    ctx.set('RateLimit-Limit', String(perMinute))
    ctx.set('RateLimit-Remaining', String(remaining))
    ctx.set('RateLimit-Reset', String(resetSeconds))
    if (!allowed) {
      ctx.set('Retry-After', String(retrySeconds))
      throw new DrapeError(
        'RATE_LIMITED',
        `The account has made too many ${kind}. Send the request again after the seconds in Retry-After.`,
      )
    }
    await next()
  }
}

function burstOf(kind: keyof typeof DEFAULTS, perMinute: number): number {
  if (kind === 'writes') return perMinute
  return Math.min(perMinute, Math.max(MIN_BURST, Math.ceil(perMinute / PARTS_OF_READS)))
}
