import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { type Busy, countUnfinished, findBusy } from './moments.ts'
import type { Platform } from './platform.ts'
import type { Shop } from './shop.ts'

/** Before more is ordered. */
const PATIENCE_MS = 2000

/** So many workers with a job in hand at the same time; jobs that last `imageMs` are ordered until there are, never many more. */
export async function keepBusy({
  platform,
  shop,
  workers,
  imageMs,
  atLeast = 1,
}: {
  platform: Platform
  shop: Shop
  workers: Fleet
  imageMs: () => number
  atLeast?: number
}): Promise<readonly [Busy, ...Busy[]]> {
  for (;;) {
    await workers.whole()
    const missing = atLeast + 1 - (await countUnfinished(platform.database))
    await Promise.all(Array.from({ length: Math.max(0, missing) }, () => shop.order({ imageMs: imageMs() })))
    const ended = performance.now() + PATIENCE_MS
    while (performance.now() < ended) {
      const [first, ...others] = await findBusy(platform.database, workers.members)
      if (first && others.length + 1 >= atLeast) return [first, ...others]
      await sleep(10)
    }
  }
}
