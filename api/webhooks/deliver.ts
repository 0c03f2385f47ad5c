import { type OutboxConsumer, startOutboxConsumer } from '../delivery/outbox-consumer.ts'
import { nextAttempt } from '../delivery/retry.ts'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { ClaimedDelivery, WebhookDeliveries } from '../stores/webhook-deliveries.ts'
import type { SendWebhook, Sent } from './send.ts'

export interface DeliverOptions {
  readonly deliveries: WebhookDeliveries
  readonly send: SendWebhook
  readonly log: Log
  readonly metrics: Metrics
  /** Seconds before each further attempt; default those of Standard Webhooks, more than three days in all. */
  readonly retrySeconds?: readonly number[]
  /** How long an endpoint in trouble is left alone, doubled each time up to five minutes; default 5 s. */
  readonly firstRestSeconds?: number
}

/** At the same time. */
const SLOTS = 64
/** Longer than an attempt and its note may take. */
const LEASE_SECONDS = 30
/** Between two looks when nothing waits. */
const IDLE_MS = 1000
/** While our own database is away. */
const DATABASE_PAUSE_MS = 3000
const HOUR_SECONDS = 3600
const RETRY_SECONDS = [5, 300, 1800, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_SECONDS)]
const FIRST_REST_SECONDS = 5
const MAX_REST_SECONDS = 300
/** However long an endpoint asks us to wait. */
const MAX_WAIT_SECONDS = 24 * HOUR_SECONDS
const DISABLE_AFTER_DAYS = 5

/**
 * Delivers events to endpoints, each at least once under the same id. Any number of these may run; each takes other
 * deliveries. An endpoint that is slow or away takes a few slots now and then, never all. `stop` breaks off deliveries under way;
 * another process repeats them.
 */
export function startWebhookDelivering(options: DeliverOptions): OutboxConsumer {
  const { deliveries, log } = options
  return startOutboxConsumer({
    ...{ name: 'webhook', log, concurrency: SLOTS, idleMs: IDLE_MS, failureMs: DATABASE_PAUSE_MS },
    claim: async ({ limit, inFlight }) => ({
      items: await deliveries.claim({ limit, leaseSeconds: LEASE_SECONDS, underWay: inFlight }),
    }),
    keyOf: ({ endpointId }) => endpointId,
    handle: (delivery, { signal }) => deliver(delivery, signal, options),
  })
}

async function deliver(delivery: ClaimedDelivery, signal: AbortSignal, options: DeliverOptions): Promise<void> {
  const sent = await options.send(delivery, signal)
  try {
    if (sent.outcome === 'taken') {
      await options.deliveries.noteDelivered(delivery.id, sent.status)
      options.metrics.webhookDeliveries.inc({ outcome: 'delivered' })
    } else if (sent.outcome === 'refused' && sent.status === null && signal.aborted) {
      await options.deliveries.release([delivery.id])
    } else {
      await noteFailed(delivery, sent, options)
    }
  } catch (error) {
    // Its lease ends, and it is delivered again.
    options.log.warn({ err: error, deliveryId: delivery.id }, 'webhook delivery result not recorded')
  }
}

async function noteFailed(
  delivery: ClaimedDelivery,
  sent: Exclude<Sent, { outcome: 'taken' }>,
  { deliveries, log, metrics, retrySeconds = RETRY_SECONDS, firstRestSeconds = FIRST_REST_SECONDS }: DeliverOptions,
): Promise<void> {
  const asked = sent.outcome === 'gone' ? 0 : Math.min(sent.afterSeconds ?? 0, MAX_WAIT_SECONDS)
  const next = nextAttempt({ failures: delivery.attempts, askedSeconds: asked }, { seconds: retrySeconds })
  const isGone = sent.outcome === 'gone'
  const isOver = isGone || next === null
  const rest = { firstSeconds: firstRestSeconds, longestSeconds: MAX_REST_SECONDS }
  const { disabledReason } = await deliveries.noteFailed(delivery.id, {
    status: sent.status,
    reason: sent.reason,
    isGone,
    retrySeconds: isOver ? null : next,
    pauseSeconds: asked,
    rest: sent.outcome === 'refused' && sent.isTroubled ? rest : null,
    disableAfterDays: DISABLE_AFTER_DAYS,
  })
  const { endpointId, accountId, eventId, type } = delivery
  metrics.webhookDeliveries.inc({ outcome: isOver ? 'failed' : 'retried' })
  log[isOver ? 'warn' : 'debug'](
    { endpointId, accountId, eventId, type, reason: sent.reason },
    'a webhook was not taken',
  )
  if (disabledReason !== null) log.error({ endpointId, accountId, reason: disabledReason }, 'webhook endpoint disabled')
}
