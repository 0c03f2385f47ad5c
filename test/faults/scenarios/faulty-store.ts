import { setTimeout as sleep } from 'node:timers/promises'
import { startFaultyStore } from '../support/faulty-store.ts'
import { findViolations } from '../support/invariants.ts'
import { countFailures, countRepeated } from '../support/moments.ts'
import { startPlatform } from '../support/platform.ts'
import { nothingTried, type Scenario } from '../support/scenario.ts'

export const faultyStore: Scenario<{ jobs: number; share: number }> = {
  id: 'R7',
  what: 'the object storage refuses, cuts or forgets requests',
  quick: { jobs: 12, share: 0.2 },
  full: { jobs: 1000, share: 0.2 },
  run: async ({ size, random }) => {
    const store = await startFaultyStore(random)
    if ('unavailable' in store) return nothingTried(`no S3 server: ${store.unavailable}`)
    const platform = await startPlatform({ random, store, replicas: 1 })
    try {
      const shop = await platform.openShop({ credits: size.jobs })
      const workers = await platform.startWorkers(3)
      store.injectFaults(size.share)
      for (let job = 0; job < size.jobs; job++) {
        await shop.order({ deadlineSeconds: 3600 })
        await sleep(random.between(0, 100))
      }
      await platform.settle()
      store.injectFaults(0)
      await workers.stop()
      return {
        accepted: [],
        injected: { faults: store.faults },
        measured: {
          accepted: shop.accepted.length,
          repeated: await countRepeated(platform.database, shop.accepted),
          ...(await countFailures(platform.database, shop.accepted)),
        },
        violations: [...(await findViolations(platform, shop.accepted)), ...platform.unexpectedErrors()],
      }
    } finally {
      await platform.stop()
      await store.stop()
    }
  },
}
