import { DrapeApiError, DrapeConnectionError, DrapeTimeoutError } from './api-error.ts'

export interface RetryOptions {
  /** Maximum number of retries. */
  readonly retries: number
  /** Maximum delay in ms; a longer requested delay fails the call. */
  readonly maxRetryDelay: number
  readonly signal: AbortSignal | undefined
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** Jitter for callers that were given the same delay. */
const JITTER_MS = 250

/**
 * Retries of an idempotent call whose first attempt may still be running: the service answers every second, and
 * releases the key when that attempt has died.
 */
const MAX_IN_USE_RETRIES = 45

const TRANSIENT_STATUSES = [429, 500, 502, 503, 504]

/**
 * Repeats `attempt` until it succeeds or fails permanently. Honours `Retry-After`, otherwise backs off exponentially.
 * Throws the error of the last attempt, or the reason of the signal.
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

/** Resolves after `ms`. Throws the reason of the signal when aborted. */
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
  return retries > 0 && isStillRunning(error) ? Math.max(retries, MAX_IN_USE_RETRIES) : retries
}

function isStillRunning(error: unknown): boolean {
  return error instanceof DrapeApiError && error.code === 'IDEMPOTENCY_KEY_IN_USE'
}

/** Whether the call succeeded, and its response was damaged on the way. */
function isUnreadable({ code, status }: DrapeApiError): boolean {
  return code === 'UNEXPECTED_ANSWER' && status >= 200 && status < 300
}

/** Delay in ms before the next attempt; null when a retry would fail the same way. */
function delayAfter(error: unknown, failed: number): number | null {
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failed) * (0.5 + Math.random() / 2)
  if (error instanceof DrapeConnectionError || error instanceof DrapeTimeoutError) return backoff
  if (!(error instanceof DrapeApiError)) return null
  if (!TRANSIENT_STATUSES.includes(error.status) && !isStillRunning(error) && !isUnreadable(error)) return null
  return error.retryAfter === null ? backoff : error.retryAfter * 1000 + Math.random() * JITTER_MS
}
