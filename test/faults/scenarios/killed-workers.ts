import { setTimeout as sleep } from 'node:timers/promises'
import { countFailed, countRepeated } from '../support/moments.ts'
import type { Scenario } from '../support/scenario.ts'

export const killedWorkers: Scenario<{ kills: number; jobs: number }> = {
  id: 'R1',
  what: 'workers are killed at random points of their jobs',
  quick: { kills: 3, jobs: 24 },
  full: { kills: 200, jobs: 2000 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: size.jobs })
    const workers = await platform.startWorkers(3)
    const { database, links } = platform
    for (let kill = 0; kill < size.kills; kill++) {
      // Slow statements make the moments between them long enough to be hit.
      links['api-postgres'].injectFaults(random.chance(0.5) ? { latencyMs: 100 } : {})
      for (let job = 0; job < size.jobs / size.kills; job++) await shop.order({ imageMs: random.between(0, 400) })
      await sleep(random.between(0, 1000))
      await workers.untilHealthy()
      await workers.kill(random.pick(workers.members))
    }
    links['api-postgres'].injectFaults()
    await platform.settle()
    await workers.stop()
    return {
      accepted: shop.accepted,
      injected: { kills: size.kills },
      measured: {
        repeated: await countRepeated(database, shop.accepted),
        failed: await countFailed(database, shop.accepted),
      },
    }
  },
}
