import { setTimeout as sleep } from 'node:timers/promises'
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

const BATCH = 8
/** Longer than a platform may take for one lead, its pauses included. */
const LEASE_SECONDS = 120
const IDLE_MS = 1000
const MAX_PAUSE_SECONDS = 3600
/** A platform that stays unavailable for this long gets the lead only when an operator retries. */
const GIVE_UP_SECONDS = 3 * 86_400

/** Delivers every lead in the outbox to the platform of its shop. Any number of processes may do so; each claims other leads. */
export function startLeadDelivery(options: LeadDeliveryOptions): { stop(): Promise<void> } {
  const { outbox, log, idleMs = IDLE_MS } = options
  const stopping = new AbortController()

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const delivered = await pass().catch((error) => {
        log.warn({ reason: faultOf(error).message }, 'lead delivery failed')
        return 0
      })
      if (delivered === 0) await sleep(idleMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function pass(): Promise<number> {
    const leads = await outbox.claim({ limit: BATCH, leaseSeconds: LEASE_SECONDS })
    await Promise.all(leads.map((lead) => deliver(lead, options)))
    return leads.length
  }

  const running = loop()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
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
    if (retryable && lead.waitedSeconds < GIVE_UP_SECONDS) {
      metrics.leads.inc({ outcome: 'retried' })
      return outbox.release(lead, { seconds: Math.min(MAX_PAUSE_SECONDS, 2 ** Math.min(lead.attempts, 20)), reason })
    }
    metrics.leads.inc({ outcome: 'lost' })
    log.error({ shopId: lead.shopId, reason }, 'lead rejected; retry it in the dashboard')
    await outbox.park(lead, { reason })
  }
}

/** Errors of the database hold what was to be stored; only their names are reported. */
function faultOf(thrown: unknown): { message: string; retryable: boolean } {
  const error = translateDatabaseError(thrown)
  if (error instanceof DrapeError) return error
  return { message: error instanceof Error ? error.name : 'Unknown', retryable: false }
}
