import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { ClaimedDelivery, WebhookDeliveries } from '../stores/webhook-deliveries.ts'
import type { SendWebhook, Sent } from './send.ts'

export interface WebhookDelivering {
  /** Breaks off deliveries under way; another process repeats them. */
  stop(): Promise<void>
}

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
/** The random share that is added to a pause, so that what failed together does not come back together. */
const JITTER = 0.1
const FIRST_REST_SECONDS = 5
const MAX_REST_SECONDS = 300
/** However long an endpoint asks us to wait. */
const MAX_WAIT_SECONDS = 24 * HOUR_SECONDS
const DISABLE_AFTER_DAYS = 5

/**
 * Delivers events to endpoints, each at least once under the same id. Any number of these may run; each takes other
 * deliveries. An endpoint that is slow or away takes a few slots now and then, never all.
 */
export function startWebhookDelivering(options: DeliverOptions): WebhookDelivering {
  const { deliveries, log } = options
  const stopping = new AbortController()
  const underWay = new Map<ClaimedDelivery, Promise<void>>()
  let ended = Promise.withResolvers<void>()
  let isAway = false

  const claim = async (): Promise<readonly ClaimedDelivery[] | null> => {
    if (underWay.size >= SLOTS) return []
    try {
      const claimed = await deliveries.claim({
        limit: SLOTS - underWay.size,
        leaseSeconds: LEASE_SECONDS,
        underWay: countByEndpoint(underWay.keys()),
      })
      isAway = false
      return claimed
    } catch (error) {
      log[isAway ? 'debug' : 'warn']({ err: error }, 'webhooks cannot be looked up')
      isAway = true
      return null
    }
  }
  const begin = (delivery: ClaimedDelivery) => {
    const made = deliver(delivery, stopping.signal, options).finally(() => {
      underWay.delete(delivery)
      ended.resolve()
    })
    underWay.set(delivery, made)
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      ended = Promise.withResolvers()
      const claimed = await claim()
      claimed?.forEach(begin)
      if (claimed?.length) continue
      const pause = sleep(claimed ? IDLE_MS : DATABASE_PAUSE_MS, undefined, stopping).catch(() => {})
      await (claimed ? Promise.race([pause, ended.promise]) : pause)
    }
  }
  const running = loop()
  return {
    stop: async () => {
      stopping.abort()
      await running
      await Promise.all(underWay.values())
    },
  }
}

function countByEndpoint(claimed: Iterable<ClaimedDelivery>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { endpointId } of claimed) counts[endpointId] = (counts[endpointId] ?? 0) + 1
  return counts
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
  const planned = retrySeconds.at(delivery.attempts)
  const isGone = sent.outcome === 'gone'
  const isOver = isGone || planned === undefined
  const rest = { firstSeconds: firstRestSeconds, longestSeconds: MAX_REST_SECONDS }
  const { disabledReason } = await deliveries.noteFailed(delivery.id, {
    status: sent.status,
    reason: sent.reason,
    isGone,
    retrySeconds: isOver ? null : Math.max(asked, planned * (1 + Math.random() * JITTER)),
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
