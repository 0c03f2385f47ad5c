import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again and again and resolves with the first truthy value. The test's own time limit ends the waiting. */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, false | undefined | null>> {
  for (;;) {
    const seen = await look()
    if (seen) return seen as Exclude<T, false | undefined | null>
    await sleep(25)
  }
}
