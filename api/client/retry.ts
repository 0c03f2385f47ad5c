import { DrapeApiError, DrapeConnectionError, DrapeTimeoutError } from './api-error.ts'

export interface RetryOptions {
  /** Further attempts after the first. */
  readonly retries: number
  /** A service that wants to be left alone for longer than this (ms) is not waited for. */
  readonly maxRetryDelay: number
  readonly signal: AbortSignal | undefined
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** Spreads callers who all got the same time to wait. */
const SPREAD_MS = 250

/** An earlier attempt may still run after its caller has gone; the service says so every second, and releases the key of one that died. */
const WAITS_FOR_FIRST = 45

const PASSING = [429, 500, 502, 503, 504]

/**
 * Makes attempts until one succeeds or fails for good: `Retry-After` is kept to, pauses grow otherwise. Throws what the last
 * attempt threw, or the reason of the signal.
 */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt()
    } catch (error) {
      const delay = failed < limitOf(error, options) ? delayAfter(error, failed) : null
      if (delay === null || delay > options.maxRetryDelay) throw error
      await pause(delay, options.signal)
    }
  }
}

/** Resolves after `ms`; rejects with the reason of the signal. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    if (signal?.aborted) return reject(signal.reason)
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

function limitOf(error: unknown, { retries }: RetryOptions): number {
  return retries > 0 && isStillRunning(error) ? Math.max(retries, WAITS_FOR_FIRST) : retries
}

function isStillRunning(error: unknown): boolean {
  return error instanceof DrapeApiError && error.code === 'IDEMPOTENCY_KEY_IN_USE'
}

/** Ms until the next attempt; null when another one would end the same way. */
function delayAfter(error: unknown, failed: number): number | null {
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failed) * (0.5 + Math.random() / 2)
  if (error instanceof DrapeConnectionError || error instanceof DrapeTimeoutError) return backoff
  if (!(error instanceof DrapeApiError)) return null
  if (!PASSING.includes(error.status) && !isStillRunning(error)) return null
  return error.retryAfter === null ? backoff : error.retryAfter * 1000 + Math.random() * SPREAD_MS
}
