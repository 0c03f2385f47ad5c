import { setTimeout as sleep } from 'node:timers/promises'
import { keepBusy } from '../support/busy.ts'
import { type Attempt, findBusy } from '../support/moments.ts'
import type { Platform } from '../support/platform.ts'
import type { Scenario } from '../support/scenario.ts'

/**
 * Twice the lifetime of the lock of a worker on its job, longer than its lease, and shorter than its timeout of a
 * statement: a thawed worker still sends its pending statements.
 */
const FROZEN_MS = 12_000
const SLOW_MS = 400

export const frozenWorkers: Scenario<{ freezes: number; atOnce: number }> = {
  id: 'R9',
  what: 'workers are frozen with a job in hand and come back when others have done it',
  quick: { freezes: 2, atOnce: 2 },
  full: { freezes: 50, atOnce: 5 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 10 * size.freezes })
    const [victims, others] = [await platform.startWorkers(size.atOnce), await platform.startWorkers(1)]
    const late: Attempt[] = []
    // Slow statements make the moments between the image's arrival and the end long enough to be hit.
    platform.links['api-postgres'].injectFaults({ latencyMs: SLOW_MS })
    while (late.length < size.freezes) {
      const busy = await keepBusy({ platform, shop, workers: victims, imageMs: () => 0, atLeast: size.atOnce })
      await sleep(random.between(0, 3 * SLOW_MS))
      for (const { worker } of busy) process.kill(-worker.pid, 'SIGSTOP')
      // Statements sent before arrive, and are not late.
      await sleep(3 * SLOW_MS)
      const frozen = await findBusy(platform.database, victims.members)
      late.push(...frozen.map(({ inHand }) => inHand))
      await sleep(FROZEN_MS - 3 * SLOW_MS)
      for (const { worker } of busy) process.kill(-worker.pid, 'SIGCONT')
      await platform.settle()
    }
    platform.links['api-postgres'].injectFaults()
    // Late statements have time to cause damage.
    await sleep(3000)
    const effective = await findEffective(platform, late)
    await Promise.all([victims.stop(), others.stop()])
    return {
      accepted: shop.accepted,
      injected: { freezes: late.length },
      measured: { discarded: late.length - effective.length },
      violations: effective.map(({ id }) => `${id} was ended by a worker that was frozen`),
    }
  },
}

/** Attempts with a stored result. */
async function findEffective(platform: Platform, attempts: readonly Attempt[]): Promise<readonly Attempt[]> {
  const stored = await platform.listResults()
  return attempts.filter(({ id, attempt }) => stored.some((key) => key.includes(`${id}-${attempt}.`)))
}
