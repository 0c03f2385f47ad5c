import { createCache } from '../../shared/process/cache.ts'
import type { Redis } from '../../shared/queue/redis.ts'
import { createCounting, MAX_OWN, type RateLimiter } from './rate-limiter.ts'

/** Tolerance for rounding the level, in tokens. */
const EPSILON = 1e-6

/**
 * Adds up to ARGV[3] whole tokens to the level of the bucket (capacity ARGV[1], drains ARGV[2] tokens per second):
 * refused requests cost nothing. Returns the previous level, by the clock of Redis.
 */
const SPEND = `
local time = redis.call('TIME') local now = time[1] + time[2] / 1000000
local burst, rate, tokens = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local stored = redis.call('GET', KEYS[1])
local level, at = 0, now
if stored then
  local left, right = stored:match('^(%S+) (%S+)$')
  level, at = tonumber(left), tonumber(right)
end
level = math.max(0, level - math.max(0, now - at) * rate)
local granted = math.max(0, math.min(tokens, math.floor(burst - level + ${EPSILON})))
if granted > 0 then
  local kept = level + granted
  redis.call('SET', KEYS[1], string.format('%.6f %.6f', kept, now), 'PX', math.ceil(kept / rate * 1000) + 1000)
end
return string.format('%.6f', level)`

/**
 * A token bucket per ID, shared by all replicas: up to `burst` tokens, refilled by `perMinute`. While Redis does not
 * respond in time, each replica fills buckets of its own. `name` separates buckets.
 */
export function createTokenBucket({
  redis,
  name,
  burst,
  perMinute,
  now = Date.now,
  onLocal,
}: {
  redis: Redis
  name: string
  burst: number
  perMinute: number
  now?: () => number
  /** Called for each count that was made without Redis. */
  onLocal?: (() => void) | undefined
}): RateLimiter {
  // An account with a budget of 0 is refused because its burst is 0.
  const perSecond = Math.max(perMinute, 1) / 60
  /** The level after these tokens, as if the bucket could hold all of them. */
  const spend = async (id: string, tokens: number) => {
    const before = await redis.client.eval(SPEND, {
      keys: [`drape:bucket:${name}:${id}`],
      arguments: [String(burst), String(perSecond), String(tokens)],
    })
    return { total: Number(before) + tokens }
  }
  const own = createCache<{ readonly level: number; readonly at: number }>({ max: MAX_OWN })
  const spendAlone = async (id: string, tokens: number) => {
    const { level, at } = own.get(id) ?? { level: 0, at: 0 }
    const before = Math.max(0, level - ((now() - at) / 1000) * perSecond)
    own.set(id, { level: before + Math.max(0, Math.min(tokens, Math.floor(burst - before))), at: now() })
    return { total: before + tokens }
  }
  const count = createCounting({
    redis,
    spend,
    spendAlone,
    points: burst,
    now,
    onLocal,
  })

  return async (id, tokens) => {
    const { total: level } = await count(id, tokens)
    return {
      allowed: level <= burst + EPSILON,
      remaining: Math.max(0, Math.floor(burst - level + EPSILON)),
      resetSeconds: secondsToDrain(Math.min(level, burst), perSecond),
      retrySeconds: secondsToDrain(level - burst, perSecond),
    }
  }
}

function secondsToDrain(tokens: number, perSecond: number): number {
  return Math.max(1, Math.ceil((tokens - EPSILON) / perSecond))
}
