export interface RetryPolicy {
  /** Delays before retries: a list, after which the item is given up; or doubled from `first` to `longest`. */
  readonly seconds: readonly number[] | { readonly first: number; readonly longest: number }
  /** Age of an item in seconds at which it is given up. Default: no limit. */
  readonly giveUpSeconds?: number
}

/** Maximum random share added to a delay, so that concurrent failures do not retry together. */
const JITTER = 0.1

/**
 * Seconds before the next attempt, or null to give the item up. `failures` counts the failed attempts before the
 * current one. The delay is at least `askedSeconds`, which the receiver requests.
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
