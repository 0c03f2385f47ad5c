import { setTimeout as sleep } from 'node:timers/promises'
import { CheckFailure, reasonOf } from '../failure.ts'
import { type Options, UsageError, wholeNumber } from '../options.ts'

const PAUSE_MS = 1000

/**
 * Retries until success, for at most `--wait-seconds`. Throws the last error: a check failure unchanged, any other error by its
 * message.
 */
export async function within<T>(options: Options, fallbackSeconds: number, attempt: () => Promise<T>): Promise<T> {
  const text = options['wait-seconds']
  const seconds = text === undefined ? fallbackSeconds : wholeNumber(text, 'wait-seconds', 0)
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof UsageError) throw error
      if (performance.now() >= deadline) throw explained(error)
      await sleep(PAUSE_MS)
    }
  }
}

function explained(error: unknown): unknown {
  if (error instanceof CheckFailure || !(error instanceof Error)) return error
  return new CheckFailure(reasonOf(error), { cause: error })
}
