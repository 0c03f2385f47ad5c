import { type OutboxConsumer, startOutboxConsumer } from '../shared/queue/outbox-consumer.ts'
import { nextAttempt } from '../shared/queue/retry.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import type { SendWebhook, Sent } from './attempt.ts'
import type { ClaimedDelivery, WebhookDeliveries } from './webhook-deliveries.store.ts'

export interface DeliverOptions {
  readonly deliveries: WebhookDeliveries
  readonly send: SendWebhook
  readonly log: Log
  readonly metrics: Metrics
  /** Delay before each retry in seconds. Default: the schedule of Standard Webhooks, more than 3 days in total. */
  readonly retrySeconds?: readonly number[]
  /** Initial backoff of a failing endpoint, doubled up to 5 minutes. Default 5 s. */
  readonly firstBackoffSeconds?: number
}

/** Maximum concurrent deliveries. */
const SLOTS = 64
/** Exceeds the duration of an attempt and of recording its outcome. */
const LEASE_SECONDS = 30
/** Polling interval without waiting deliveries. */
const IDLE_MS = 1000
/** Pause while the database is unavailable. */
const DATABASE_PAUSE_MS = 3000
const HOUR_SECONDS = 3600
const RETRY_SECONDS = [5, 300, 1800, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_SECONDS)]
const FIRST_BACKOFF_SECONDS = 5
const MAX_BACKOFF_SECONDS = 300
/** Upper limit of an endpoint's `Retry-After`. */
const MAX_WAIT_SECONDS = 24 * HOUR_SECONDS
const DISABLE_AFTER_DAYS = 5

/**
 * Delivers events to endpoints, at least once and always with the same ID. Any number of processes may run concurrently; each claims
 * different deliveries. A slow or unavailable endpoint occupies few slots, never all. `stop` aborts deliveries in
 * flight; another process repeats them.
 */
export function startWebhookDelivering(options: DeliverOptions): OutboxConsumer {
  const { deliveries, log } = options
  return startOutboxConsumer({
    name: 'webhook',
    log,
    concurrency: SLOTS,
    idleMs: IDLE_MS,
    failureMs: DATABASE_PAUSE_MS,
    claim: async ({ limit, inFlight }) => ({
      items: await deliveries.claim({ limit, leaseSeconds: LEASE_SECONDS, inFlight }),
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
    // The lease expires, and the event is delivered again.
    options.log.warn({ err: error, deliveryId: delivery.id }, 'webhook delivery result not recorded')
  }
}

async function noteFailed(
  delivery: ClaimedDelivery,
  sent: Exclude<Sent, { outcome: 'taken' }>,
  {
    deliveries,
    log,
    metrics,
    retrySeconds = RETRY_SECONDS,
    firstBackoffSeconds = FIRST_BACKOFF_SECONDS,
  }: DeliverOptions,
): Promise<void> {
  const asked = sent.outcome === 'gone' ? 0 : Math.min(sent.afterSeconds ?? 0, MAX_WAIT_SECONDS)
  const next = nextAttempt({ failures: delivery.attempts, askedSeconds: asked }, { seconds: retrySeconds })
  const isGone = sent.outcome === 'gone'
  const isOver = isGone || next === null
  const backoff = { firstSeconds: firstBackoffSeconds, maxSeconds: MAX_BACKOFF_SECONDS }
  const { disabledReason } = await deliveries.noteFailed(delivery.id, {
    status: sent.status,
    reason: sent.reason,
    isGone,
    retrySeconds: isOver ? null : next,
    pauseSeconds: asked,
    backoff: sent.outcome === 'refused' && sent.isFailing ? backoff : null,
    disableAfterDays: DISABLE_AFTER_DAYS,
  })
  const { endpointId, accountId, eventId, type } = delivery
  metrics.webhookDeliveries.inc({ outcome: isOver ? 'failed' : 'retried' })
  log[isOver ? 'warn' : 'debug'](
    { endpointId, accountId, eventId, type, reason: sent.reason },
    'webhook delivery failed',
  )
  if (disabledReason !== null) log.error({ endpointId, accountId, reason: disabledReason }, 'webhook endpoint disabled')
}
