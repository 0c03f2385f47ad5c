import type { Lifecycle } from '../process/lifecycle.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Interval between two measurements, and its minimum as a multiple of a measurement's duration. */
const MEASURE_MS = 5000
const MEASURE_FACTOR = 20

/** Measures repeatedly in the background, so that a scrape never waits. `seen` returns null while the values are unknown. */
export function startMeasuring<T>(measure: () => Promise<T>, { log }: { readonly log: Log }) {
  let seen: T | null = null
  let timer: NodeJS.Timeout
  const repeat = async () => {
    const started = performance.now()
    try {
      seen = await measure()
    } catch (error) {
      seen = null
      log.debug({ err: error }, 'measuring waiting work failed')
    }
    timer = setTimeout(repeat, Math.max(MEASURE_MS, MEASURE_FACTOR * (performance.now() - started)))
  }
  timer = setTimeout(repeat, 0)
  return { seen: () => seen, stop: () => clearTimeout(timer) }
}

/** A gauge of the age in seconds of the oldest waiting item: 0 if none waits, absent while it is unknown. */
export function watchAge(
  about: { readonly name: string; readonly help: string },
  measureOldest: () => Promise<number | null>,
  { metrics, log, lifecycle }: { readonly metrics: Metrics; readonly log: Log; readonly lifecycle: Lifecycle },
): void {
  const measuring = startMeasuring(async () => (await measureOldest()) ?? 0, { log })
  lifecycle.onStop(about.name, () => measuring.stop())
  metrics.watch(about, () => {
    const value = measuring.seen()
    return value === null ? [] : [{ value }]
  })
}
