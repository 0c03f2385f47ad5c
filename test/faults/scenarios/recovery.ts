import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { type Attempt, findInHand, nameOf, percentile, secondsUntilNext } from '../support/moments.ts'
import type { Scenario } from '../support/scenario.ts'

export const recovery: Scenario<{ kills: number; recoveredSeconds: number }> = {
  id: 'R11',
  what: 'a killed worker’s job has to be taken over soon',
  quick: { kills: 3, recoveredSeconds: 30 },
  full: { kills: 100, recoveredSeconds: 10 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 4 * size.kills })
    const workers = await platform.startWorkers(4)
    const lost: { inHand: Attempt; killed: Date }[] = []
    while (lost.length < size.kills) {
      await workers.whole()
      await Promise.all(Array.from({ length: 4 }, () => shop.order({ pictureMs: random.between(1500, 3000) })))
      await until(async () => (await findInHand(platform.database)).size >= 3)
      await sleep(random.between(0, 1000))
      const inHand = await findInHand(platform.database)
      for (const worker of [...workers.members].slice(0, 3)) {
        const attempt = inHand.get(nameOf(worker))
        const killed = new Date()
        await workers.kill(worker)
        if (attempt && lost.length < size.kills) lost.push({ inHand: attempt, killed })
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
