import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { type Busy, countUnfinished, findBusy } from './moments.ts'
import type { Platform } from './platform.ts'
import type { Shop } from './shop.ts'

/** Time to wait for the workers before the next try-ons. */
const PATIENCE_MS = 2000

/** Requests try-ons of `imageMs` until `atLeast` workers run one concurrently, and returns these workers. */
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
    await workers.untilHealthy()
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
