import { setTimeout as sleep } from 'node:timers/promises'
import { CheckFailure, reasonOf } from '../failure.ts'
import { type Options, UsageError, wholeNumber } from '../options.ts'

const PAUSE_MS = 1000

/**
 * Tries until it succeeds, for the time that `--wait-seconds` gives. Throws what it threw last: a failure of a check as it is, of
 * anything else the message.
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
