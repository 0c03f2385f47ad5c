import type { Bench } from './bench.ts'

/** One figure that Drape has to reach. */
export interface Benchmark {
  readonly id: string
  /** What is measured, and against what. */
  readonly what: string
  /** What `ours` and `anchor` are counted in. */
  readonly unit: string
  /** Whether the ratio has to be at least, or at most, the goal. */
  readonly sense: 'least' | 'most'
  readonly goal: number
  readonly stretch: number
  measure(bench: Bench): Promise<Measured>
}

export interface Measured {
  readonly ours: number
  /** What the bare program reaches; 1 for plain counts. */
  readonly anchor: number
  /** How it was measured, when that is less than was asked. */
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

/** Measures and holds the ratio of ours to the anchor against the goal. */
export async function runBenchmark(benchmark: Benchmark, bench: Bench): Promise<Result> {
  const { id, what, unit, sense, goal, stretch } = benchmark
  const { ours, anchor, note } = await benchmark.measure(bench)
  const ratio = ours / anchor
  const sign = sense === 'least' ? '≥' : '≤'
  return {
    ...{ id, unit, ours, anchor, ratio },
    what: note === undefined ? what : `${what}; ${note}`,
    goal: `${sign} ${goal}`,
    stretch: `${sign} ${stretch}`,
    reached: sense === 'least' ? ratio >= goal : ratio <= goal,
  }
}
