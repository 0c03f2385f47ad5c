import { keepBusy } from '../support/busy.ts'
import { countRepeated, countStarts, nameOf } from '../support/moments.ts'
import type { Scenario } from '../support/scenario.ts'

const GRACE_SECONDS = 20

export const stoppedWorkers: Scenario<{ stops: number; jobs: number }> = {
  id: 'R10',
  what: 'workers get SIGTERM while they run a job',
  quick: { stops: 2, jobs: 10 },
  full: { stops: 100, jobs: 1000 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 10 * size.jobs })
    const workers = await platform.startWorkers(3, {
      DRAIN_SECONDS: String(GRACE_SECONDS - 10),
      // Spans without a collector must not delay the exit.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    })
    const violations: string[] = []
    const ends: number[] = []
    for (let stop = 0; stop < size.stops; stop++) {
      for (let job = 0; job < size.jobs / size.stops; job++) await shop.order({ imageMs: random.between(100, 600) })
      const imageMs = () => random.between(300, 800)
      const [busy] = await keepBusy({ platform, shop, workers, imageMs })
      const signalledAt = new Date()
      const code = await workers.terminate(busy.worker)
      ends.push((Date.now() - signalledAt.getTime()) / 1000)
      if (code !== 0) violations.push(`a worker ended with ${code}`)
      const taken = await countStarts(platform.database, nameOf(busy.worker), signalledAt)
      if (taken > 0) violations.push(`a worker took ${taken} jobs after SIGTERM`)
    }
    await platform.settle()
    await workers.stop()
    const repeated = await countRepeated(platform.database, shop.accepted)
    const slowest = Math.max(...ends)
    if (slowest > GRACE_SECONDS) violations.push(`a worker took ${slowest} s to stop`)
    if (repeated > 0) violations.push(`${repeated} jobs were run again`)
    return {
      accepted: shop.accepted,
      injected: { stops: size.stops },
      measured: { 'slowest stop s': slowest, repeated },
      violations,
    }
  },
}
