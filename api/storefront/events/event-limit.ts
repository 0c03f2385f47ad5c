import type { Middleware } from 'koa'
import type { ApiConfig } from '../../config.ts'
import { createRateLimiter, type RateLimiter } from '../../http/limits/rate-limiter.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Redis } from '../../shared/queue/redis.ts'

type EventLimits = Pick<ApiConfig, 'EVENTS_PER_MINUTE'>

/** Share of one address in the events of a shop. */
const ADDRESS_SHARE = 0.1
/** Budgets in bytes, by the events per minute: 2 MB a minute for 1200 events of an address; 16 MB a minute and 1 GB a day for 12,000 of a shop. */
const ADDRESS_BYTES = 5000 / 3
const SENDER_BYTES = 4000 / 3
const SENDER_BYTES_OF_DAY = 1e9 / 12_000

/** Bytes that Postgres uses for the smallest event, so that byte budgets limit disk usage. */
const MIN_STORED_BYTES = 256

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/**
 * Spends the events and bytes of a batch from the budgets of the sender's address and of the shop or publishable key,
 * so that strangers who use one key do not spend the budget of another. Throws `RATE_LIMIT_EXCEEDED` with
 * `Retry-After`. Requires the parsed body.
 */
export function eventLimit({ redis, limits }: { redis: Redis; limits: EventLimits }): Middleware<AppState> {
  const budgetOf = (name: string, points: number, seconds = MINUTE_SECONDS) =>
    createRateLimiter({ redis, name: `events:${name}`, points, seconds })
  const eventsOfAddress = Math.round(limits.EVENTS_PER_MINUTE * ADDRESS_SHARE)
  const addressEvents = budgetOf('address', eventsOfAddress)
  const addressBytes = budgetOf('address-bytes', Math.round(eventsOfAddress * ADDRESS_BYTES))
  const senderEvents = budgetOf('sender', limits.EVENTS_PER_MINUTE)
  const senderBytes = budgetOf('sender-bytes', Math.round(limits.EVENTS_PER_MINUTE * SENDER_BYTES))
  const senderDay = budgetOf('sender-day', Math.round(limits.EVENTS_PER_MINUTE * SENDER_BYTES_OF_DAY), DAY_SECONDS)

  return async function limit(ctx, next) {
    const { key, shop, shopper, body, bodyBytes } = ctx.state
    // A batch that is rejected later counts, too.
    const events = Math.max(1, countEvents(body))
    const bytes = Math.max(bodyBytes, events * MIN_STORED_BYTES)
    const sender = shop?.id ?? key.id
    // Check the budgets of the address first, so that one address cannot exhaust the budget of all visitors.
    if (!shopper.isAddressShared) {
      await spend(ctx as AppContext, [
        [addressEvents, shopper.addressHash, events],
        [addressBytes, shopper.addressHash, bytes],
      ])
    }
    await spend(ctx as AppContext, [
      [senderEvents, sender, events],
      [senderBytes, sender, bytes],
      [senderDay, sender, bytes],
    ])
    await next()
  }
}

async function spend(ctx: AppContext, budgets: readonly (readonly [RateLimiter, string, number])[]): Promise<void> {
  const spent = await Promise.all(budgets.map(([budget, id, points]) => budget(id, points)))
  const refusals = spent.filter(({ allowed }) => !allowed)
  if (refusals.length === 0) return
  ctx.set('Retry-After', String(Math.max(...refusals.map(({ resetSeconds }) => resetSeconds))))
  throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many events. Send the batch again after the seconds in Retry-After.')
}

export function countEvents(body: unknown): number {
  const { events } = (body ?? {}) as { events?: unknown }
  return Array.isArray(events) ? events.length : 1
}
