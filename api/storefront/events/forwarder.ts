import { type OutboxConsumer, startOutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import { nextAttempt } from '../../shared/queue/retry.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import type { Metrics } from '../../shared/telemetry/metrics.ts'
import type { SendEvents } from './analytics-provider.ts'
import type { EventOutbox, PendingEvent } from './event-outbox.store.ts'

export interface ForwarderOptions {
  readonly outbox: EventOutbox
  readonly send: SendEvents
  readonly log: Log
  readonly metrics: Metrics
}

const BATCH = 100
const LEASE_SECONDS = 60
/** Time limit for splitting a refused batch. The lease covers it and one more request to the provider. */
const MAX_SPLIT_MS = 40_000
/** Polling interval of an empty outbox. */
const IDLE_MS = 500
/** Pause while the database is unavailable. */
const DATABASE_PAUSE_MS = 3000
/** Backoff while the provider is unavailable. */
const BACKOFF = { seconds: { first: 1, longest: 300 } }
/** Maximum `Retry-After` that is honoured. */
const MAX_RETRY_AFTER_SECONDS = 3600
/** Events older than this are parked instead of retried. */
const GIVE_UP_MS = 3 * 86_400_000

/**
 * Forwards every event in the outbox to the analytics provider. Any number of forwarders may run concurrently; each
 * claims different events. A refused batch is halved until each refused event is alone; only refused events are parked.
 */
export function startForwarder(options: ForwarderOptions): OutboxConsumer {
  const { log, outbox } = options
  let failures = 0
  return startOutboxConsumer({
    name: 'event',
    log,
    concurrency: 1,
    idleMs: IDLE_MS,
    failureMs: DATABASE_PAUSE_MS,
    claim: async () => {
      const events = await outbox.claim({ limit: BATCH, leaseSeconds: LEASE_SECONDS })
      return { items: events.length > 0 ? [events] : [] }
    },
    handle: async (events, { signal, pause }) => {
      const splitUntil = performance.now() + MAX_SPLIT_MS
      const batches: (readonly PendingEvent[])[] = [events]
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        const result = await options.send(batch, signal)
        if (result.outcome === 'retry') {
          const unsent = [batch, ...batches].flat()
          if (signal.aborted) return outbox.release(unsent, { seconds: 0 })
          log[failures > 0 ? 'debug' : 'warn']({ reason: result.reason }, 'forwarding events failed')
          const askedSeconds = Math.min(result.afterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS)
          const seconds = nextAttempt({ failures: failures++, askedSeconds }, BACKOFF) ?? 0
          pause(seconds * 1000)
          return postpone(unsent, { seconds, reason: result.reason }, options)
        }
        failures = 0
        if (result.outcome === 'accepted') await complete(batch, options)
        else if (batch.length === 1) await park(batch, result.reason, options)
        else batches.unshift(...halvesOf(batch))
        if (performance.now() > splitUntil) return outbox.release(batches.flat(), { seconds: 0 })
      }
    },
  })
}

function halvesOf(events: readonly PendingEvent[]): (readonly PendingEvent[])[] {
  const middle = Math.ceil(events.length / 2)
  return [events.slice(0, middle), events.slice(middle)]
}

async function complete(events: readonly PendingEvent[], { outbox, metrics }: ForwarderOptions): Promise<void> {
  await outbox.delete(events)
  metrics.forwardedEvents.inc({ outcome: 'forwarded' }, events.length)
}

async function park(
  events: readonly PendingEvent[],
  reason: string,
  { outbox, metrics, log }: ForwarderOptions,
): Promise<void> {
  await outbox.park(events, { reason })
  for (const { key, name, accountId, shopId } of events) {
    log.error({ eventKey: key, event: name, accountId, shopId, reason }, 'event not forwarded')
  }
  metrics.forwardedEvents.inc({ outcome: 'dead' }, events.length)
}

async function postpone(
  events: readonly PendingEvent[],
  { seconds, reason }: { seconds: number; reason: string },
  options: ForwarderOptions,
): Promise<void> {
  const oldest = Date.now() - GIVE_UP_MS
  const { old = [], young = [] } = Object.groupBy(events, ({ receivedAt }) =>
    receivedAt.getTime() < oldest ? 'old' : 'young',
  )
  if (old.length > 0) await park(old, `${reason}, for days`, options)
  if (young.length === 0) return
  await options.outbox.release(young, { seconds })
  options.metrics.forwardedEvents.inc({ outcome: 'retried' }, young.length)
}
