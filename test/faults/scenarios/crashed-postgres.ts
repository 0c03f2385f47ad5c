import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../support/scenario.ts'

export const crashedPostgres: Scenario<{ crashes: number; backMs: number }> = {
  id: 'R6',
  what: 'Postgres is stopped at once and started again',
  quick: { crashes: 1, backMs: 30_000 },
  full: { crashes: 20, backMs: 5000 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 400 * size.crashes })
    const workers = await platform.startWorkers(2)
    const pids = [...platform.replicas.members, ...workers.members].map(({ pid }) => pid)
    const back: number[] = []
    for (let crash = 0; crash < size.crashes; crash++) {
      const orders = Array.from({ length: 30 }, async () => {
        await sleep(random.between(0, 500))
        return shop.order({ imageMs: random.between(0, 500) })
      })
      await sleep(random.between(0, 500))
      await platform.postgres.crash()
      await sleep(random.between(0, 2000))
      await platform.postgres.start()
      const started = performance.now()
      while ((await shop.order()).status !== 201) await sleep(50)
      back.push(performance.now() - started)
      await Promise.all(orders)
    }
    await platform.settle()
    const survivors = [...platform.replicas.members, ...workers.members].filter(({ pid }) => pids.includes(pid)).length
    await workers.stop()
    const slowest = Math.max(...back)
    const odd = shop.orders.filter(({ status }) => status !== 201 && status !== 503)
    return {
      accepted: shop.accepted,
      injected: { crashes: size.crashes },
      measured: { 'API back within s': slowest / 1000, refused: shop.orders.length - shop.accepted.length },
      violations: [
        ...(slowest > size.backMs ? [`the API was back after ${slowest} ms`] : []),
        ...(survivors < pids.length ? [`${pids.length - survivors} processes ended`] : []),
        ...odd.map(({ status, code }) => `an order was answered with ${status} ${code}`),
      ],
    }
  },
}
