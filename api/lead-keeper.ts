import { setTimeout as sleep } from 'node:timers/promises'
import { translateDatabaseError } from './shared/database.ts'
import { DrapeError } from './shared/errors.ts'
import type { Log } from './shared/log.ts'
import type { Metrics } from './shared/metrics.ts'
import type { Lead } from './shop-platforms/shop-platform.ts'
import type { ShopPlatforms } from './shop-platforms/shop-platforms.ts'
import type { ShopRecord } from './stores/shops.ts'

/** Before each further try, about ten minutes in all. */
const PAUSES_MS = [1000, 5000, 30_000, 120_000, 480_000]
/** So many leads may wait for a platform that is away. */
const MAX_WAITING = 1000

export type LeadKeeper = ReturnType<typeof createLeadKeeper>

/**
 * Takes leads to the platforms of their shops, behind the backs of the shoppers, who wait for nothing. What cannot be kept in
 * several tries is counted and logged, without its address.
 */
export function createLeadKeeper({
  platformOf,
  log,
  metrics,
  pausesMs = PAUSES_MS,
}: {
  platformOf: ShopPlatforms
  log: Log
  metrics: Metrics
  pausesMs?: readonly number[]
}) {
  const stopping = new AbortController()
  const waiting = new Set<Promise<void>>()

  function lose(shop: ShopRecord, reason: string): void {
    metrics.leads.inc({ outcome: 'lost' })
    log.error({ shopId: shop.id, reason }, 'a lead was lost')
  }

  async function keepAtLast(shop: ShopRecord, lead: Lead): Promise<void> {
    for (const pauseMs of [...pausesMs, null]) {
      const fault = await platformOf(shop)
        .keepLead(shop, lead)
        .then(() => null, faultOf)
      if (fault === null) return void metrics.leads.inc({ outcome: 'kept' })
      if (!fault.retryable || pauseMs === null || stopping.signal.aborted) return lose(shop, fault.message)
      metrics.leads.inc({ outcome: 'retried' })
      // Who is stopped while waiting tries once more at once.
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    keep: (shop: ShopRecord, lead: Lead): void => {
      if (waiting.size >= MAX_WAITING) {
        lose(shop, 'Too many leads wait already.')
        return
      }
      const keeping = keepAtLast(shop, lead).finally(() => waiting.delete(keeping))
      waiting.add(keeping)
    },

    /** Resolves when no lead waits any more. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(waiting)
    },
  }
}

/** Errors of the database hold what was to be stored; of those only the name is told. */
function faultOf(thrown: unknown): { message: string; retryable: boolean } {
  const error = translateDatabaseError(thrown)
  if (error instanceof DrapeError) return error
  return { message: error instanceof Error ? error.name : 'Unknown', retryable: false }
}
