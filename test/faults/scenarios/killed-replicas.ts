import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../support/scenario.ts'

export const killedReplicas: Scenario<{ kills: number; atOnce: number }> = {
  id: 'R2',
  what: 'API replicas are killed while they accept',
  quick: { kills: 3, atOnce: 20 },
  full: { kills: 100, atOnce: 40 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: size.kills * size.atOnce })
    const workers = await platform.startWorkers(2)
    for (let kill = 0; kill < size.kills; kill++) {
      await platform.replicas.untilHealthy()
      const orders = Array.from({ length: size.atOnce }, () => shop.order())
      await sleep(random.between(0, 120))
      await platform.replicas.kill(random.pick(platform.replicas.members))
      await Promise.all(orders)
    }
    await platform.replicas.untilHealthy()
    await platform.settle()
    await workers.stop()
    const unanswered = shop.orders.filter(({ status }) => status === null).length
    return { accepted: shop.accepted, injected: { kills: size.kills }, measured: { unanswered } }
  },
}
