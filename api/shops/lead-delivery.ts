import { type OutboxConsumer, startOutboxConsumer } from '../delivery/outbox-consumer.ts'
import { nextAttempt } from '../delivery/retry.ts'
import { translateDatabaseError } from '../shared/database/errors.ts'
import { DrapeError } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { ShopPlatforms } from '../shop-platforms/shop-platforms.ts'
import type { LeadOutbox, WaitingLead } from '../stores/lead-outbox.ts'
import type { Shops } from '../stores/shops.ts'

export interface LeadDeliveryOptions {
  readonly outbox: LeadOutbox
  readonly shops: Pick<Shops, 'findOpen'>
  readonly platformOf: ShopPlatforms
  readonly log: Log
  readonly metrics: Metrics
  /** Between two polls of an empty outbox, in ms. */
  readonly idleMs?: number
}

/** Leads in flight at a time. */
const CONCURRENCY = 8
/** Longer than a platform may take for one lead, its pauses included. */
const LEASE_SECONDS = 120
const IDLE_MS = 1000
/** A platform that stays unavailable for 3 days gets the lead only when an operator retries. */
const RETRY = { seconds: { first: 1, longest: 3600 }, giveUpSeconds: 3 * 86_400 }

/** Delivers every lead in the outbox to the platform of its shop. Any number of processes may do so; each claims other leads. */
export function startLeadDelivery(options: LeadDeliveryOptions): OutboxConsumer {
  const { outbox, log, idleMs = IDLE_MS } = options
  return startOutboxConsumer({
    ...{ name: 'lead', log, concurrency: CONCURRENCY, idleMs, failureMs: IDLE_MS },
    claim: async (claiming) => ({
      items: await withoutContents(outbox.claim({ ...claiming, leaseSeconds: LEASE_SECONDS })),
    }),
    keyOf: ({ shopId }) => shopId,
    handle: (lead) => withoutContents(deliver(lead, options)),
  })
}

async function deliver(lead: WaitingLead, options: LeadDeliveryOptions): Promise<void> {
  const { outbox, shops, platformOf, metrics, log } = options
  try {
    const shop = await shops.findOpen(lead.shopId)
    if (shop === null) return
    await platformOf(shop).keepLead(shop, { ...lead, outboxId: lead.id })
    await outbox.delete(lead)
    metrics.leads.inc({ outcome: 'kept' })
  } catch (error) {
    const { message: reason, retryable } = faultOf(error)
    const seconds = nextAttempt({ failures: lead.attempts, ageSeconds: lead.waitedSeconds }, RETRY)
    if (retryable && seconds !== null) {
      metrics.leads.inc({ outcome: 'retried' })
      return outbox.release(lead, { seconds, reason })
    }
    metrics.leads.inc({ outcome: 'lost' })
    log.error({ shopId: lead.shopId, reason }, 'lead rejected; retry it in the dashboard')
    await outbox.park(lead, { reason })
  }
}

/** Rejects with what may be logged of an error. */
function withoutContents<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw new Error(faultOf(error).message)
  })
}

/** Errors of the database hold what was to be stored; only their names are reported. */
function faultOf(thrown: unknown): { message: string; retryable: boolean } {
  const error = translateDatabaseError(thrown)
  if (error instanceof DrapeError) return error
  return { message: error instanceof Error ? error.name : 'Unknown', retryable: false }
}
