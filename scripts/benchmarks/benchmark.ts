import type { Bench } from './bench.ts'

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
  readonly stretch: number
  measure(bench: Bench): Promise<Measured>
}

export interface Measured {
  readonly ours: number
  /** Result of the baseline; 1 for plain counts. */
  readonly anchor: number
  /** Differences from the requested measurement. */
  readonly note?: string
}

export interface Result extends Measured {
  readonly id: string
  readonly what: string
  readonly unit: string
  readonly ratio: number
  readonly goal: string
  readonly stretch: string
  readonly reached: boolean
}

/** Measures, and compares the ratio of ours to the baseline with the goal. */
export async function runBenchmark(benchmark: Benchmark, bench: Bench): Promise<Result> {
  const { id, what, unit, better, goal, stretch } = benchmark
  const { ours, anchor, note } = await benchmark.measure(bench)
  const ratio = ours / anchor
  const sign = better === 'higher' ? '≥' : '≤'
  return {
    id,
    unit,
    ours,
    anchor,
    ratio,
    what: note === undefined ? what : `${what}; ${note}`,
    goal: `${sign} ${goal}`,
    stretch: `${sign} ${stretch}`,
    reached: better === 'higher' ? ratio >= goal : ratio <= goal,
  }
}
