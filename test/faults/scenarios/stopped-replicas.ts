import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../support/scenario.ts'

const GRACE_SECONDS = 20

export const stoppedReplicas: Scenario<{ stops: number; atOnce: number }> = {
  id: 'R10b',
  what: 'API replicas get SIGTERM while they accept',
  quick: { stops: 2, atOnce: 20 },
  full: { stops: 100, atOnce: 40 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: size.stops * size.atOnce })
    const workers = await platform.startWorkers(2)
    const violations: string[] = []
    const ends: number[] = []
    for (let stop = 0; stop < size.stops; stop++) {
      await platform.replicas.untilHealthy()
      const orders = Array.from({ length: size.atOnce }, () => shop.order())
      await sleep(random.between(0, 120))
      const signalledAt = performance.now()
      const code = await platform.replicas.terminate(random.pick(platform.replicas.members))
      ends.push((performance.now() - signalledAt) / 1000)
      if (code !== 0) violations.push(`a replica ended with ${code}`)
      await Promise.all(orders)
    }
    await platform.replicas.untilHealthy()
    await platform.settle()
    await workers.stop()
    const lost = shop.orders.filter(({ status }) => status !== 201).length
    const slowest = Math.max(...ends)
    if (lost > 0) violations.push(`${lost} orders that were under way were not accepted`)
    if (slowest > GRACE_SECONDS) violations.push(`a replica took ${slowest} s to stop`)
    return {
      accepted: shop.accepted,
      injected: { stops: size.stops },
      measured: { 'slowest stop s': slowest },
      violations,
    }
  },
}
