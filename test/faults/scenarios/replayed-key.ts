import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../support/scenario.ts'

export const replayedKey: Scenario<{ replays: number; kills: number }> = {
  id: 'R17',
  what: 'one Idempotency-Key is replayed while API replicas are killed',
  quick: { replays: 150, kills: 2 },
  full: { replays: 1000, kills: 5 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: size.replays })
    const product = { externalId: 'shirt', images: [{ source: { url: platform.images.next(0) } }] }
    const order = () => shop.order({ product, idempotencyKey: 'the same every time' })
    for (let kill = 0; kill < size.kills; kill++) {
      await platform.replicas.untilHealthy()
      const replays = Array.from({ length: size.replays / (size.kills + 1) }, order)
      await sleep(random.between(0, 100))
      await platform.replicas.kill(random.pick(platform.replicas.members))
      await Promise.all(replays)
    }
    await platform.replicas.untilHealthy()
    while ((await order()).status !== 201) await sleep(200)
    await Promise.all(Array.from({ length: size.replays / (size.kills + 1) }, order))
    const workers = await platform.startWorkers(1)
    await platform.settle()
    await workers.stop()
    const ids = new Set(shop.accepted)
    const odd = shop.orders.filter(({ status }) => ![201, 409, 503, null].includes(status))
    return {
      accepted: [...ids],
      injected: { replays: shop.orders.length, kills: size.kills },
      measured: { answers: shop.accepted.length, generations: ids.size },
      violations: [
        ...(ids.size === 1 ? [] : [`there are ${ids.size} generations`]),
        ...odd.map(({ status, code }) => `a replay was answered with ${status} ${code}`),
      ],
    }
  },
}
