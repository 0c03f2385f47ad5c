import type { Middleware } from 'koa'
import { DEFAULT_REQUESTS } from '../../accounts/account-settings.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Redis } from '../../shared/queue/redis.ts'
import type { RateLimiter } from '../limits/rate-limiter.ts'
import { createTokenBucket } from '../limits/token-bucket.ts'
import type { AppState } from '../state.ts'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Divides a minute's reads into the maximum burst. The burst of writes is a whole minute: a catalogue is sent in
 * bursts.
 */
const PARTS_OF_READS = 15
/** Minimum burst of reads. */
const MIN_BURST = 120
/** Minimum of the random share of `Retry-After`, in seconds: one cycle of a caller that polls. */
const MIN_SPREAD_SECONDS = 2

/**
 * Spends one request of the account's token buckets for reads, writes or `polls` of listeners, shared by all replicas;
 * while Redis does not respond in time, each replica counts for itself. Sets `RateLimit-Limit`
 * (requests per minute), `RateLimit-Remaining` (current burst) and `RateLimit-Reset` (seconds until the full burst is
 * available). Throws `RATE_LIMITED` with `Retry-After`: the seconds until this request would be allowed, and a random
 * share, so that callers that were refused together do not return together.
 */
export function rateLimit({
  redis,
  kind: given,
  now = Date.now,
  onLocal,
}: {
  redis: Redis
  /** Default: reads or writes, by the HTTP method. */
  kind?: 'polls'
  now?: () => number
  onLocal?: () => void
}): Middleware<AppState> {
  const budgets = new Map<string, RateLimiter>()
  function budgetOf(kind: keyof typeof DEFAULT_REQUESTS, perMinute: number): RateLimiter {
    const name = `${kind}:${perMinute}`
    const known =
      budgets.get(name) ?? createTokenBucket({ redis, name, burst: burstOf(kind, perMinute), perMinute, now, onLocal })
    budgets.set(name, known)
    return known
  }

  return async function limit(ctx, next) {
    const { id, settings } = ctx.state.account
    const kind = given ?? (READS.has(ctx.method) ? 'reads' : 'writes')
    const perMinute = (kind === 'polls' ? undefined : settings[`${kind}PerMinute`]) ?? DEFAULT_REQUESTS[kind]
    const { allowed, remaining, resetSeconds, retrySeconds } = await budgetOf(kind, perMinute)(id)
    ctx.set('RateLimit-Limit', String(perMinute))
    ctx.set('RateLimit-Remaining', String(remaining))
    ctx.set('RateLimit-Reset', String(resetSeconds))
    if (!allowed) {
      ctx.set('Retry-After', String(spreadSeconds(retrySeconds)))
      throw new DrapeError(
        'RATE_LIMITED',
        `The account has made too many ${kind}. Send the request again after the seconds in Retry-After.`,
      )
    }
    await next()
  }
}

/** The seconds, and up to as many again (at least 2) at random. Whole seconds. */
export function spreadSeconds(seconds: number, random: () => number = Math.random): number {
  return seconds + Math.floor(random() * (Math.max(MIN_SPREAD_SECONDS, seconds) + 1))
}

function burstOf(kind: keyof typeof DEFAULT_REQUESTS, perMinute: number): number {
  if (kind === 'writes') return perMinute
  return Math.min(perMinute, Math.max(MIN_BURST, Math.ceil(perMinute / PARTS_OF_READS)))
}
