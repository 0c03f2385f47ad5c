import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** No request may block the event loop for more than 50 ms of an idle core; those of test machines may be half as fast. */
export const MAX_LOOP_MS = 100

/** After a response the process may still collect garbage or write its log. */
const SETTLE_MS = 5

/**
 * Milliseconds of processor time that the main thread of the process, which runs its event loop, spends while `work` runs. Unlike
 * the delay of the loop it does not depend on the load of the machine. Of several runs the shortest counts: the first compile.
 */
export async function measureLoop<T>(
  pid: number,
  work: () => Promise<T>,
  { enoughMs, runs = 3 }: { enoughMs: number; runs?: number },
): Promise<{ ms: number; result: T }> {
  let shortest: { ms: number; result: T } | null = null
  for (let run = 0; run < runs && (shortest === null || shortest.ms > enoughMs); run++) {
    const before = readMainThreadMs(pid)
    const result = await work()
    await sleep(SETTLE_MS)
    const ms = readMainThreadMs(pid) - before
    if (shortest === null || ms < shortest.ms) shortest = { ms, result }
  }
  return shortest as { ms: number; result: T }
}

/** From Linux's `schedstat`: nanoseconds on a processor, nanoseconds waiting for one, slices. */
function readMainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}
