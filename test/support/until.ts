import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Polls until the first truthy value, with a growing interval: each poll takes processor time from the process under test. Only the time
 * limit of the test ends the wait.
 */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, false | undefined | null>> {
  const begunAt = performance.now()
  for (;;) {
    const seen = await look()
    if (seen) return seen as Exclude<T, false | undefined | null>
    await sleep(Math.min(25 + (performance.now() - begunAt) / 20, 250))
  }
}
