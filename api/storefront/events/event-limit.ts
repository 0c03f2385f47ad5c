import type { Middleware } from 'koa'
import type { ApiConfig } from '../../config.ts'
import { type Budget, createBudget } from '../../http/limits/budget.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Redis } from '../../shared/queue/redis.ts'

type EventLimits = Pick<
  ApiConfig,
  | 'EVENTS_PER_MINUTE'
  | 'EVENT_BYTES_PER_MINUTE'
  | 'EVENT_BYTES_PER_DAY'
  | 'ADDRESS_EVENTS_PER_MINUTE'
  | 'ADDRESS_EVENT_BYTES_PER_MINUTE'
>

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
    createBudget({ redis, name: `events:${name}`, points, seconds })
  const addressEvents = budgetOf('address', limits.ADDRESS_EVENTS_PER_MINUTE)
  const addressBytes = budgetOf('address-bytes', limits.ADDRESS_EVENT_BYTES_PER_MINUTE)
  const senderEvents = budgetOf('sender', limits.EVENTS_PER_MINUTE)
  const senderBytes = budgetOf('sender-bytes', limits.EVENT_BYTES_PER_MINUTE)
  const senderDay = budgetOf('sender-day', limits.EVENT_BYTES_PER_DAY, DAY_SECONDS)

  return async function limit(ctx, next) {
    const { key, shop, shopper } = ctx.state
    const { events, bytes } = sizeOf(ctx as AppContext)
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

async function spend(ctx: AppContext, budgets: readonly (readonly [Budget, string, number])[]): Promise<void> {
  const spent = await Promise.all(budgets.map(([budget, id, points]) => budget(id, points)))
  const refusals = spent.filter(({ allowed }) => !allowed)
  if (refusals.length === 0) return
  ctx.set('Retry-After', String(Math.max(...refusals.map(({ resetSeconds }) => resetSeconds))))
  throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many events. Send the batch again after the seconds in Retry-After.')
}

/** Counts batches that are rejected later, too. */
function sizeOf({ state: { body } }: AppContext): { events: number; bytes: number } {
  const { events } = (body ?? {}) as { events?: unknown }
  const count = Array.isArray(events) ? Math.max(1, events.length) : 1
  // Not the Content-Length: the body may be compressed.
  const sent = Buffer.byteLength(JSON.stringify(body ?? null))
  return { events: count, bytes: Math.max(sent, count * MIN_STORED_BYTES) }
}
