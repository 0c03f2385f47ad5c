import type { Log } from '../shared/telemetry/log.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import type { Backlog, Unfinished } from './backlog.store.ts'

/** Interval between two measurements, and its minimum as a multiple of a measurement's duration. */
const MEASURE_MS = 5000
const MEASURE_FACTOR = 20

interface EngineSlots {
  readonly name: string
  readonly slots: number
}

interface Measurement {
  readonly unfinished: readonly Unfinished[]
  readonly overdue: number | null
  readonly slots: number | null
  readonly engines: readonly EngineSlots[]
  readonly webhookLag: number | null
  readonly oldestReview: number | null
  readonly oldestErasure: number | null
}
const UNKNOWN: Measurement = {
  unfinished: [],
  overdue: null,
  slots: null,
  engines: [],
  webhookLag: null,
  oldestReview: null,
  oldestErasure: null,
}

/**
 * Gauges of waiting work, measured in the background so that a scrape never waits. Absent while the values are unknown.
 */
export function createBacklogGauges({
  backlog,
  countSlots,
  findEngineSlots,
  measureWebhookLag,
  measureOldestReview,
  measureOldestErasure,
  metrics,
  log,
}: {
  backlog: Backlog
  /** Live slots of workers that take try-on jobs. */
  countSlots: () => Promise<number>
  /** Live slots of each known engine. */
  findEngineSlots: () => Promise<readonly EngineSlots[]>
  /** Seconds since the oldest due webhook became due; null when none is due. */
  measureWebhookLag: () => Promise<number | null>
  /** Seconds since the oldest open appeal was made; null when none is open. */
  measureOldestReview: () => Promise<number | null>
  /** Seconds since the oldest erasure without a receipt was requested; null when there is none. */
  measureOldestErasure: () => Promise<number | null>
  metrics: Metrics
  log: Log
}): { stop(): void } {
  let seen = UNKNOWN
  let timer: NodeJS.Timeout
  const measure = async () => {
    const started = performance.now()
    try {
      const [unfinished, overdue, slots, engines, webhookLag, oldestReview, oldestErasure] = await Promise.all([
        backlog.findUnfinished(),
        backlog.measureOverdue(),
        countSlots().catch(() => null),
        findEngineSlots().catch(() => []),
        measureWebhookLag(),
        measureOldestReview(),
        measureOldestErasure(),
      ])
      seen = {
        unfinished,
        overdue: overdue ?? 0,
        slots,
        engines,
        webhookLag: webhookLag ?? 0,
        oldestReview: oldestReview ?? 0,
        oldestErasure: oldestErasure ?? 0,
      }
    } catch (error) {
      seen = UNKNOWN
      log.debug({ err: error }, 'backlog measurement failed')
    }
    timer = setTimeout(measure, Math.max(MEASURE_MS, MEASURE_FACTOR * (performance.now() - started)))
  }
  timer = setTimeout(measure, 0)
  watch(metrics, () => seen)
  return { stop: () => clearTimeout(timer) }
}

function watch(metrics: Metrics, seen: () => Measurement): void {
  const byEngine = (pick: (row: Unfinished) => number) => () =>
    seen().unfinished.map((row) => ({ labels: { engine: row.engine, state: row.state }, value: pick(row) }))
  metrics.watch(
    {
      name: 'drape_generations_unfinished',
      help: 'Unfinished generations, by engine and state: waiting (for the relay), queued (for a worker), running',
      labels: ['engine', 'state'],
    },
    byEngine(({ count }) => count),
  )
  metrics.watch(
    {
      name: 'drape_generations_oldest_seconds',
      help: 'Seconds since the acceptance of the oldest unfinished generation, by engine and state',
      labels: ['engine', 'state'],
    },
    byEngine(({ seconds }) => seconds),
  )
  metrics.watch(
    {
      name: 'drape_sweep_lag_seconds',
      help: 'Seconds since the expiry of the oldest expired object; 0 if no object has expired',
    },
    () => readingOf(seen().overdue),
  )
  metrics.watch(
    {
      name: 'drape_webhook_lag_seconds',
      help: 'Seconds since the oldest pending webhook delivery was due; 0 if none is due',
    },
    () => readingOf(seen().webhookLag),
  )
  metrics.watch(
    {
      name: 'drape_reviews_oldest_seconds',
      help: 'Seconds since the oldest appeal without a decision of a live account was made; 0 if there is none',
    },
    () => readingOf(seen().oldestReview),
  )
  metrics.watch(
    {
      name: 'drape_erasures_oldest_seconds',
      help: 'Seconds since the request of the oldest erasure whose receipt is not issued; 0 if there is none',
    },
    () => readingOf(seen().oldestErasure),
  )
  metrics.watch({ name: 'drape_worker_slots', help: 'Slots of all live workers of the try-on queue' }, () =>
    readingOf(seen().slots),
  )
  metrics.watch(
    { name: 'drape_engine_slots', help: 'Slots of all live workers that run the engine', labels: ['engine'] },
    () => seen().engines.map(({ name, slots }) => ({ labels: { engine: name }, value: slots })),
  )
}

function readingOf(value: number | null) {
  return value === null ? [] : [{ value }]
}
