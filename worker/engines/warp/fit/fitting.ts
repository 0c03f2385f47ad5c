import type { LowerFitting } from './lower/fitting.ts'
import type { UpperFitting } from './upper/fitting.ts'

/** A garment fitted to a person. */
export type Fitting = UpperFitting | LowerFitting
