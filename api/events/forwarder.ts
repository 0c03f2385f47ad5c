import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { EventOutbox, PendingEvent } from '../stores/event-outbox.ts'
import type { SendEvents } from './analytics-provider.ts'

export interface Forwarder {
  /** Aborts the request that is under way; the next forwarder sends its events again. */
  stop(): Promise<void>
}

export interface ForwarderOptions {
  readonly outbox: EventOutbox
  readonly send: SendEvents
  readonly log: Log
  readonly metrics: Metrics
}

const BATCH = 100
const LEASE_SECONDS = 60
/** Splitting a refused batch ends after this time: the lease outlasts it and one more request to the provider. */
const MAX_SPLIT_MS = 40_000
/** Between two polls of an empty outbox. */
const IDLE_MS = 500
/** After a first failure; doubled with each further one. */
const FIRST_PAUSE_MS = 1000
/** While our own database is unavailable. */
const DATABASE_PAUSE_MS = 3000
const MAX_PAUSE_MS = 300_000
/** The longest `Retry-After` that is honoured. */
const MAX_RETRY_AFTER_MS = 3_600_000
/** Events older than this are parked instead of retried. */
const GIVE_UP_MS = 3 * 86_400_000

/**
 * Forwards every event in the outbox to the analytics provider. Any number of forwarders may run; each claims other events.
 * A batch that the provider refuses is halved until the refused events stand alone: only those are parked.
 */
export function startForwarder(options: ForwarderOptions): Forwarder {
  const { log, outbox } = options
  const stopping = new AbortController()
  let failures = 0

  const pauseAfterFailure = (minMs: number) => {
    const grown = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), MAX_PAUSE_MS)
    failures++
    return Math.max(grown, Math.min(minMs, MAX_RETRY_AFTER_MS))
  }
  /** Returns how long to wait until the next pass, in ms. */
  const pass = async (): Promise<number> => {
    const claimed = await outbox.claim({ limit: BATCH, leaseSeconds: LEASE_SECONDS })
    if (claimed.length === 0) return IDLE_MS
    const splitUntil = performance.now() + MAX_SPLIT_MS
    const batches: (readonly PendingEvent[])[] = [claimed]
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      const result = await options.send(batch, stopping.signal)
      if (result.outcome === 'retry') {
        const unsent = [batch, ...batches].flat()
        if (stopping.signal.aborted) {
          await outbox.release(unsent, { seconds: 0 })
          return 0
        }
        log[failures > 0 ? 'debug' : 'warn']({ reason: result.reason }, 'events could not be forwarded')
        const ms = pauseAfterFailure((result.afterSeconds ?? 0) * 1000)
        await postpone(unsent, { ms, reason: result.reason }, options)
        return ms
      }
      failures = 0
      if (result.outcome === 'accepted') await complete(batch, options)
      else if (batch.length === 1) await park(batch, result.reason, options)
      else batches.unshift(...halvesOf(batch))
      if (performance.now() > splitUntil) {
        await outbox.release(batches.flat(), { seconds: 0 })
        return 0
      }
    }
    return 0
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const ms = await pass().catch((error) => {
        log[failures > 0 ? 'debug' : 'warn']({ err: error }, 'events could not be forwarded')
        failures++
        return DATABASE_PAUSE_MS
      })
      if (ms > 0) await pause(ms, stopping.signal)
    }
  }
  const running = loop()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
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
  { ms, reason }: { ms: number; reason: string },
  options: ForwarderOptions,
): Promise<void> {
  const oldest = Date.now() - GIVE_UP_MS
  const { old = [], young = [] } = Object.groupBy(events, ({ receivedAt }) =>
    receivedAt.getTime() < oldest ? 'old' : 'young',
  )
  if (old.length > 0) await park(old, `${reason}, for days`, options)
  if (young.length === 0) return
  await options.outbox.release(young, { seconds: ms / 1000 })
  options.metrics.forwardedEvents.inc({ outcome: 'retried' }, young.length)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
