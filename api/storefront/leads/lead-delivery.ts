import { DrapeError } from '../../shared/contract/errors.ts'
import { translateDatabaseError } from '../../shared/database/errors.ts'
import { type OutboxConsumer, startOutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import { nextAttempt } from '../../shared/queue/retry.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import type { Metrics } from '../../shared/telemetry/metrics.ts'
import type { Shops } from '../../shops/shops.store.ts'
import type { ShopPlatforms } from '../shop-platforms/shop-platforms.ts'
import type { LeadOutbox, WaitingLead } from './lead-outbox.store.ts'

export interface LeadDeliveryOptions {
  readonly outbox: LeadOutbox
  readonly shops: Pick<Shops, 'findOpen'>
  readonly platformOf: ShopPlatforms
  readonly log: Log
  readonly metrics: Metrics
  /** Polling interval of an empty outbox, in ms. */
  readonly idleMs?: number
}

/** Maximum number of leads in flight. */
const CONCURRENCY = 8
/** Exceeds the time that a platform may take for one lead, including pauses. */
const LEASE_SECONDS = 120
const IDLE_MS = 1000
/** After 3 days the lead is parked, and only an operator can retry it. */
const RETRY = { seconds: { first: 1, longest: 3600 }, giveUpSeconds: 3 * 86_400 }

/**
 * Delivers every lead in the outbox to the platform of its shop. Any number of processes may run concurrently; each
 * claims different leads.
 */
export function startLeadDelivery(options: LeadDeliveryOptions): OutboxConsumer {
  const { outbox, log, idleMs = IDLE_MS } = options
  return startOutboxConsumer({
    name: 'lead',
    log,
    concurrency: CONCURRENCY,
    idleMs,
    failureMs: IDLE_MS,
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

/** Throws an error without personal data, so that it can be logged. */
function withoutContents<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw new Error(faultOf(error).message)
  })
}

/** Database errors contain the stored values; report only their names. */
function faultOf(thrown: unknown): { message: string; retryable: boolean } {
  const error = translateDatabaseError(thrown)
  if (error instanceof DrapeError) return error
  return { message: error instanceof Error ? error.name : 'Unknown', retryable: false }
}
