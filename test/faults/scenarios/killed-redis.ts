import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../support/scenario.ts'

export const killedRedis: Scenario<{ kills: number; answerMs: number }> = {
  id: 'R4',
  what: 'Redis is killed and started again with nothing in it',
  quick: { kills: 2, answerMs: 10_000 },
  full: { kills: 20, answerMs: 1000 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 100 * size.kills })
    const workers = await platform.startWorkers(2)
    const askFor = async (ms: number) => {
      const ended = performance.now() + ms
      while (performance.now() < ended) {
        await shop.order({ imageMs: random.between(0, 200) })
        await sleep(50)
      }
    }
    for (let kill = 0; kill < size.kills; kill++) {
      await askFor(random.between(200, 800))
      await platform.redis.kill()
      await askFor(random.between(500, 2500))
      await Promise.all([platform.redis.restart(), askFor(500)])
    }
    await platform.settle()
    await workers.stop()
    const slowest = Math.max(...shop.orders.map(({ ms }) => ms))
    const refused = shop.orders.filter(({ status }) => status !== 201).length
    return {
      accepted: shop.accepted,
      injected: { kills: size.kills },
      measured: { 'slowest answer ms': slowest, refused },
      violations: [
        ...(slowest > size.answerMs ? [`the API hung for ${slowest} ms`] : []),
        ...(refused > 0 ? [`${refused} of ${shop.orders.length} orders were not accepted`] : []),
      ],
    }
  },
}
