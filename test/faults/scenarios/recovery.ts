import { setTimeout as sleep } from 'node:timers/promises'
import { keepBusy } from '../support/busy.ts'
import { type Attempt, findBusy, percentile, secondsUntilNext } from '../support/moments.ts'
import type { Scenario } from '../support/scenario.ts'

export const recovery: Scenario<{ kills: number; recoveredSeconds: number }> = {
  id: 'R11',
  what: 'a killed worker’s job has to be taken over soon',
  quick: { kills: 3, recoveredSeconds: 30 },
  full: { kills: 100, recoveredSeconds: 10 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 20 * size.kills })
    const workers = await platform.startWorkers(4)
    const lost: { inHand: Attempt; killed: Date }[] = []
    while (lost.length < size.kills) {
      const imageMs = () => random.between(1500, 3000)
      await keepBusy({ platform, shop, workers, imageMs, atLeast: 3 })
      await sleep(random.between(0, 1000))
      const busy = await findBusy(platform.database, workers.members)
      for (const { worker, inHand } of busy.slice(0, Math.min(3, size.kills - lost.length))) {
        lost.push({ inHand, killed: new Date() })
        await workers.kill(worker)
      }
    }
    await platform.settle()
    await workers.stop()
    const seconds = await Promise.all(
      lost.map(({ inHand, killed }) => secondsUntilNext(platform.database, inHand, killed)),
    )
    // Those that ended before the signal came are not lost.
    const taken = seconds.filter((value) => value !== null)
    const p99 = percentile(taken, 0.99)
    return {
      accepted: shop.accepted,
      injected: { kills: lost.length },
      measured: { recovered: taken.length, 'p50 s': percentile(taken, 0.5), 'p99 s': p99 },
      violations: p99 > size.recoveredSeconds ? [`p99 of the recovery is ${p99} s`] : [],
    }
  },
}
