export interface RetryPolicy {
  /** Before each further attempt, as a list, or doubled from the first to the longest. After a list the item is given up. */
  readonly seconds: readonly number[] | { readonly first: number; readonly longest: number }
  /** Age of an item, in seconds, from which it is given up. Default: no limit. */
  readonly giveUpSeconds?: number
}

/** The random share that is added to a pause, so that what failed together does not return together. */
const JITTER = 0.1

/**
 * Seconds before the next attempt, or null to give the item up. `failures` counts the failed attempts before the one that has just
 * failed. The pause is at least `askedSeconds`, which the receiver asks for.
 */
export function nextAttempt(
  { failures, ageSeconds = 0, askedSeconds = 0 }: { failures: number; ageSeconds?: number; askedSeconds?: number },
  { seconds, giveUpSeconds = Number.POSITIVE_INFINITY }: RetryPolicy,
): number | null {
  const planned =
    'first' in seconds ? Math.min(seconds.longest, seconds.first * 2 ** Math.min(failures, 30)) : seconds.at(failures)
  if (planned === undefined || ageSeconds >= giveUpSeconds) return null
  return Math.max(askedSeconds, planned * (1 + Math.random() * JITTER))
}
