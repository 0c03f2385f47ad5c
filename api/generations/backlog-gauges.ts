import type { Log } from '../shared/telemetry/log.ts'
import { zeroEnds } from '../shared/telemetry/measured.ts'
import { startMeasuring } from '../shared/telemetry/measuring.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import type { Backlog, Unfinished } from './backlog.store.ts'

interface EngineSlots {
  readonly name: string
  readonly slots: number
}

interface Measurement {
  readonly unfinished: readonly Unfinished[]
  readonly overdue: number | null
  readonly slots: number | null
  readonly engines: readonly EngineSlots[]
}
const UNKNOWN: Measurement = { unfinished: [], overdue: null, slots: null, engines: [] }

/**
 * Gauges of waiting work, measured in the background so that a scrape never waits. Absent while the values are unknown.
 */
export function createBacklogGauges({
  backlog,
  countSlots,
  findEngineSlots,
  isReady,
  metrics,
  log,
}: {
  backlog: Backlog
  /** Live slots of workers that take try-on jobs; 0 while Redis is unavailable. */
  countSlots: () => Promise<number>
  /** Live slots of each known engine; 0 while Redis is unavailable. */
  findEngineSlots: () => Promise<readonly EngineSlots[]>
  /** Whether Redis, the only source of slots, is available. */
  isReady: () => boolean
  metrics: Metrics
  log: Log
}): { stop(): void } {
  const zeroed = new Set<string>()
  const zeroOnce = (engine: string) => {
    if (!zeroed.has(engine)) zeroEnds(metrics, engine)
    zeroed.add(engine)
  }
  const measure = async (): Promise<Measurement> => {
    const [unfinished, overdue, slots, engines] = await Promise.all([
      backlog.findUnfinished(),
      backlog.measureOverdue(),
      countSlots().catch(() => null),
      findEngineSlots().catch(() => []),
    ])
    for (const engine of [...unfinished.map((each) => each.engine), ...engines.map(({ name }) => name)])
      zeroOnce(engine)
    // Without Redis the slots are unknown, not 0: a page about missing workers would name the wrong cause.
    const known = isReady() ? { slots, engines } : { slots: null, engines: [] }
    return { unfinished, overdue: overdue ?? 0, ...known }
  }
  const measuring = startMeasuring(measure, { log })
  watch(metrics, () => measuring.seen() ?? UNKNOWN)
  return { stop: () => measuring.stop() }
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
