import type { Platform } from './platform.ts'
import type { Random } from './random.ts'

/** Extent of a fault. */
export type Size = Readonly<Record<string, number>>

/** One row of the table of faults: a fault of a platform under load, and the required behaviour. */
export interface Scenario<S extends Size = Size> {
  readonly id: string
  readonly what: string
  /** Extent in every test run: a few seconds. */
  readonly quick: S
  readonly full: S
  run(world: { platform: Platform; size: S; random: Random }): Promise<Findings>
}

export interface Findings {
  /** IDs of all accepted generations. */
  readonly accepted: readonly string[]
  /** Counts of injected faults. */
  readonly injected: Readonly<Record<string, number>>
  /** Measurements. */
  readonly measured?: Readonly<Record<string, number>>
  /** Violations in addition to those of the common invariants. */
  readonly violations?: readonly string[]
  /** Reason why the scenario cannot run here. */
  readonly skipped?: string
}

export function nothingTried(reason: string): Findings {
  return { accepted: [], injected: {}, skipped: reason }
}
