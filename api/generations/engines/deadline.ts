import { DEADLINE_SECONDS } from '../../shared/generations/generation.ts'
import type { ChosenEngine } from './choice.ts'

/** Waits longer than estimated are common: calls of other accounts may go first, and workers may be lost. */
const ESTIMATES_PER_DEADLINE = 3

/**
 * Seconds until the deadline of a call that names none. Long enough for the generations ahead and for the start of a worker, so that
 * neither a burst nor a pool without workers lets a try-on fail.
 */
export async function defaultDeadline({
  engine: { published },
  estimating,
}: Pick<ChosenEngine, 'engine' | 'estimating'>): Promise<number> {
  const estimate = await estimating
  const seconds = Math.max(
    DEADLINE_SECONDS.default,
    ESTIMATES_PER_DEADLINE * (estimate?.estimatedSeconds ?? 0),
    (published?.warmupSeconds ?? 0) + (published?.startSeconds ?? 0),
  )
  return Math.min(DEADLINE_SECONDS.max, Math.ceil(seconds))
}
