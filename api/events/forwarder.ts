import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { EventOutbox, UntoldEvent } from '../stores/event-outbox.ts'
import type { TellProvider } from './analytics-provider.ts'

export interface Forwarder {
  /** Breaks off what is under way; it is told again by whoever comes next. */
  stop(): Promise<void>
}

export interface ForwarderOptions {
  readonly outbox: EventOutbox
  readonly tell: TellProvider
  readonly log: Log
  readonly metrics: Metrics
}

const BATCH = 100
/** Longer than the provider may take to answer. */
const LEASE_SECONDS = 60
/** Between two looks when nothing waits. */
const IDLE_MS = 500
/** After a first failure; doubled with each further one. */
const FIRST_PAUSE_MS = 1000
/** While our own database is away. */
const DATABASE_PAUSE_MS = 3000
const LONGEST_PAUSE_MS = 300_000
/** However long a provider asks us to wait. */
const LONGEST_WAIT_MS = 3_600_000
/** What could not be told for so long is not told any more. */
const GIVE_UP_MS = 3 * 86_400_000

/** Tells the provider of analytics of every event in the outbox. Any number of forwarders may run; each takes other events. */
export function startForwarder(options: ForwarderOptions): Forwarder {
  const { log } = options
  const stopping = new AbortController()
  let failures = 0

  const pauseAfterFailure = (least: number) => {
    const grown = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), LONGEST_PAUSE_MS)
    failures++
    return Math.max(grown, Math.min(least, LONGEST_WAIT_MS))
  }
  /** Returns how long to wait until the next pass, in ms. */
  const pass = async (): Promise<number> => {
    const events = await options.outbox.claim({ limit: BATCH, leaseSeconds: LEASE_SECONDS })
    if (events.length === 0) return IDLE_MS
    const told = await options.tell(events, stopping.signal)
    if (told.outcome !== 'later') {
      failures = 0
      await settle(events, told.outcome === 'taken' ? null : told.reason, options)
      return 0
    }
    if (stopping.signal.aborted) {
      await options.outbox.release(events, { seconds: 0 })
      return 0
    }
    log[failures > 0 ? 'debug' : 'warn']({ reason: told.reason }, 'events could not be forwarded')
    const ms = pauseAfterFailure((told.afterSeconds ?? 0) * 1000)
    await putOff(events, { ms, reason: told.reason }, options)
    return ms
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

/** They were taken, or refused for a reason. */
async function settle(
  events: readonly UntoldEvent[],
  refusal: string | null,
  options: ForwarderOptions,
): Promise<void> {
  const { outbox, metrics, log } = options
  if (refusal === null) await outbox.delete(events)
  else {
    await outbox.bury(events, { reason: refusal })
    log.error({ events: events.length, reason: refusal }, 'events were refused and will not be forwarded')
  }
  metrics.forwardedEvents.inc({ outcome: refusal === null ? 'forwarded' : 'dead' }, events.length)
}

async function putOff(
  events: readonly UntoldEvent[],
  { ms, reason }: { ms: number; reason: string },
  options: ForwarderOptions,
): Promise<void> {
  const oldest = Date.now() - GIVE_UP_MS
  const { old = [], young = [] } = Object.groupBy(events, ({ receivedAt }) =>
    receivedAt.getTime() < oldest ? 'old' : 'young',
  )
  if (old.length > 0) await settle(old, `${reason}, for days`, options)
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
