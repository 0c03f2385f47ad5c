import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the first truthy value. Only the time limit of the test ends the wait. */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, false | undefined | null>> {
  for (;;) {
    const seen = await look()
    if (seen) return seen as Exclude<T, false | undefined | null>
    await sleep(25)
  }
}
