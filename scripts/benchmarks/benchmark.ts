import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Shared } from './bench.ts'
import { bySize } from './size.ts'

/** A measurement with a goal. */
export interface Benchmark {
  readonly id: string
  /** Description of the measurement and its baseline. */
  readonly what: string
  /** Unit of `ours` and `anchor`. */
  readonly unit: string
  /** Whether the ratio must be at least or at most the goal. */
  readonly better: 'higher' | 'lower'
  readonly goal: number
  /** What it starts is stopped when it has ended, also by an error. */
  measure(bench: Bench): Promise<Measured>
}

export interface Measured {
  readonly ours: number
  /** Result of the baseline; 1 for plain counts. */
  readonly anchor: number
  /** Differences from the requested measurement. */
  readonly note?: string
  /** A table of figures behind the ratio. */
  readonly details?: string
}

export interface Result extends Measured {
  readonly id: string
  readonly what: string
  readonly unit: string
  readonly ratio: number
  readonly goal: string
  readonly reached: boolean
}

export interface Outcome {
  readonly results: readonly Result[]
  /** Benchmarks without a figure, and why. */
  readonly failed: readonly { readonly id: string; readonly reason: string }[]
}

const MAX_MINUTES = bySize({ smallest: 8, usual: 20, full: 180 })

/** Measures one after another. A benchmark that fails, or does not end, leaves nothing behind for the next. */
export async function runBenchmarks(
  benchmarks: readonly Benchmark[],
  shared: Pick<Shared, 'open'>,
  { onStart, onResult }: { onStart: (benchmark: Benchmark) => void; onResult: (result: Result) => void },
): Promise<Outcome> {
  const results: Result[] = []
  const failed: { id: string; reason: string }[] = []
  for (const benchmark of benchmarks) {
    onStart(benchmark)
    const bench = shared.open()
    try {
      const result = await within(MAX_MINUTES, runBenchmark(benchmark, bench))
      results.push(result)
      onResult(result)
    } catch (error) {
      failed.push({ id: benchmark.id, reason: error instanceof Error ? error.message : String(error) })
    } finally {
      await bench.stop()
    }
  }
  return { results, failed }
}

async function within<T>(minutes: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const late = sleep(minutes * 60_000, null, { signal: timer.signal }).then(() => {
    throw new Error(`It did not end within ${minutes} minutes.`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    late.catch(() => {})
    timer.abort()
  }
}

/** Measures, and compares the ratio of ours to the baseline with the goal. */
async function runBenchmark(benchmark: Benchmark, bench: Bench): Promise<Result> {
  const { id, what, unit, better, goal } = benchmark
  const { ours, anchor, note, details } = await benchmark.measure(bench)
  const ratio = ours / anchor
  if (!Number.isFinite(ratio)) throw new Error(`No figure: ${ours} against ${anchor}.`)
  return {
    id,
    unit,
    ours,
    anchor,
    ratio,
    what: note === undefined ? what : `${what}; ${note}`,
    goal: `${better === 'higher' ? '≥' : '≤'} ${goal}`,
    details,
    reached: better === 'higher' ? ratio >= goal : ratio <= goal,
  }
}
