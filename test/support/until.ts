import { setTimeout as sleep } from 'node:timers/promises'

/** Half the time limit of a test, whose own error would not name the wait. */
const LIMIT_MS = 240_000

/**
 * Polls until the first truthy value, with a growing interval: each poll takes processor time from the process under test. Throws with the
 * text of the condition after four minutes.
 */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, false | undefined | null>> {
  const begunAt = performance.now()
  for (;;) {
    const seen = await look()
    if (seen) return seen as Exclude<T, false | undefined | null>
    if (performance.now() - begunAt > LIMIT_MS) throw new Error(`After ${LIMIT_MS / 60_000} minutes still not: ${look}`)
    await sleep(Math.min(25 + (performance.now() - begunAt) / 20, 250))
  }
}
