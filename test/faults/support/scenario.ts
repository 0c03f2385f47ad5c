import type { Platform } from './platform.ts'
import type { Random } from './random.ts'

/** Numbers that say how much of a fault there is. */
export type Size = Readonly<Record<string, number>>

/** One row of the table of faults: what is done to a platform under load, and what must hold while it is. */
export interface Scenario<S extends Size = Size> {
  readonly id: string
  readonly what: string
  /** Some seconds' worth, for every run of the tests. */
  readonly quick: S
  readonly full: S
  run(world: { platform: Platform; size: S; random: Random }): Promise<Findings>
}

export interface Findings {
  /** The ids of all that was accepted. */
  readonly accepted: readonly string[]
  /** What was done, counted. */
  readonly injected: Readonly<Record<string, number>>
  /** What was measured on the way. */
  readonly measured?: Readonly<Record<string, number>>
  /** What did not hold, beyond what must hold after every fault. */
  readonly violations?: readonly string[]
  /** Why it could not be tried here. */
  readonly skipped?: string
}

export function nothingTried(reason: string): Findings {
  return { accepted: [], injected: {}, skipped: reason }
}
