import type { Log } from './shared/log.ts'
import type { Metrics } from './shared/metrics.ts'
import type { Backlog, Unfinished } from './stores/backlog.ts'

/** Between two looks, and how many times longer than a look took. */
const LOOK_MS = 5000
const LOOK_FACTOR = 20

interface Look {
  readonly unfinished: readonly Unfinished[]
  readonly overdue: number | null
  readonly slots: number | null
  readonly webhookLag: number | null
}
const NOTHING: Look = { unfinished: [], overdue: null, slots: null, webhookLag: null }

/**
 * Keeps the gauges of what is left to be done, looking now and then so that a scrape waits for nobody. While that cannot be told
 * they are absent.
 */
export function createBacklogGauges({
  backlog,
  countSlots,
  measureWebhookLag,
  metrics,
  log,
}: {
  backlog: Backlog
  /** Live slots of workers that take try-on jobs. */
  countSlots: () => Promise<number>
  /** Seconds since the webhook was due that should have been sent first; null when none is. */
  measureWebhookLag: () => Promise<number | null>
  metrics: Metrics
  log: Log
}): { stop(): void } {
  let seen = NOTHING
  let timer: NodeJS.Timeout
  const look = async () => {
    const started = performance.now()
    try {
      const [unfinished, overdue, slots, webhookLag] = await Promise.all([
        backlog.findUnfinished(),
        backlog.measureOverdue(),
        countSlots().catch(() => null),
        measureWebhookLag(),
      ])
      seen = { unfinished, overdue: overdue ?? 0, slots, webhookLag: webhookLag ?? 0 }
    } catch (error) {
      seen = NOTHING
      log.debug({ err: error }, 'the backlog could not be measured')
    }
    timer = setTimeout(look, Math.max(LOOK_MS, LOOK_FACTOR * (performance.now() - started)))
  }
  timer = setTimeout(look, 0)
  watch(metrics, () => seen)
  return { stop: () => clearTimeout(timer) }
}

function watch(metrics: Metrics, seen: () => Look): void {
  const byEngine = (pick: (row: Unfinished) => number) => () =>
    seen().unfinished.map((row) => ({ labels: { engine: row.engine, state: row.state }, value: pick(row) }))
  metrics.watch(
    {
      name: 'drape_generations_unfinished',
      help: 'Generations that wait for the relay (waiting), for a worker (queued), or run',
      labels: ['engine', 'state'],
    },
    byEngine(({ count }) => count),
  )
  metrics.watch(
    {
      name: 'drape_generations_oldest_seconds',
      help: 'Seconds since the oldest generation in this state was accepted',
      labels: ['engine', 'state'],
    },
    byEngine(({ seconds }) => seconds),
  )
  metrics.watch(
    {
      name: 'drape_sweep_lag_seconds',
      help: 'Seconds since the object expired that should have been swept first; 0 when there is none',
    },
    () => readingOf(seen().overdue),
  )
  metrics.watch(
    {
      name: 'drape_webhook_lag_seconds',
      help: 'Seconds since the webhook was due that should have been sent first; 0 when there is none',
    },
    () => readingOf(seen().webhookLag),
  )
  metrics.watch({ name: 'drape_worker_slots', help: 'Slots of the workers that take try-on jobs and are alive' }, () =>
    readingOf(seen().slots),
  )
}

function readingOf(value: number | null) {
  return value === null ? [] : [{ value }]
}
