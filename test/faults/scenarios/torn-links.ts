import { setTimeout as sleep } from 'node:timers/promises'
import { countFailed, countRepeated } from '../support/moments.ts'
import { LINKS, type Platform } from '../support/platform.ts'
import type { Scenario } from '../support/scenario.ts'
import type { LinkFaults } from '../support/tcp-proxy.ts'

export const tornLinks: Scenario<{
  jobs: number
  phaseMs: number
  partitionMs: number
  latencyMs: number
  cutShare: number
}> = {
  id: 'R8',
  what: 'links are slow, torn and parted, each in its turn',
  quick: { jobs: 8, phaseMs: 600, partitionMs: 1500, latencyMs: 500, cutShare: 0.05 },
  full: { jobs: 40, phaseMs: 10_000, partitionMs: 60_000, latencyMs: 500, cutShare: 0.05 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 100 * size.jobs })
    const workers = await platform.startWorkers(2)
    const before = cutsOf(platform)
    let phases = 0
    const phase = async (link: (typeof LINKS)[number], faults: LinkFaults, ms: number) => {
      phases++
      platform.links[link].injectFaults(faults)
      const orders = Array.from({ length: size.jobs }, async () => {
        await sleep(random.between(0, ms / 2))
        await shop.order({ imageMs: random.between(0, 500) })
      })
      await sleep(ms)
      platform.links[link].injectFaults()
      await Promise.all(orders)
    }
    for (const link of LINKS) {
      await phase(link, { latencyMs: size.latencyMs }, size.phaseMs)
      await phase(link, { cutShare: size.cutShare }, size.phaseMs)
      await phase(link, { partitioned: true }, size.partitionMs)
    }
    await platform.settle()
    await workers.stop()
    const slowest = Math.max(...shop.orders.map(({ ms }) => ms))
    return {
      accepted: shop.accepted,
      injected: { phases, cuts: cutsOf(platform) - before },
      measured: {
        'slowest answer s': slowest / 1000,
        unanswered: shop.orders.filter(({ status }) => status === null).length,
        repeated: await countRepeated(platform.database, shop.accepted),
        failed: await countFailed(platform.database, shop.accepted),
      },
    }
  },
}

function cutsOf({ links }: Platform): number {
  return LINKS.reduce((sum, name) => sum + links[name].cuts, 0)
}
