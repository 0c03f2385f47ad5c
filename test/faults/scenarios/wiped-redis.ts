import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import { until } from '../../support/until.ts'
import type { Platform } from '../support/platform.ts'
import type { Scenario } from '../support/scenario.ts'

const JobId = rowType(Type.Object({ id: Type.String() }))

export const wipedRedis: Scenario<{ wipes: number; jobs: number; rebuiltMs: number }> = {
  id: 'R3',
  what: 'Redis is wiped under load',
  quick: { wipes: 2, jobs: 30, rebuiltMs: 30_000 },
  full: { wipes: 50, jobs: 2000, rebuiltMs: 10_000 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: size.jobs })
    const workers = await platform.startWorkers(2)
    const redis = await createClient({ url: platform.redis.url }).connect()
    const rebuilt: number[] = []
    for (let wipe = 0; wipe < size.wipes; wipe++) {
      const orders = Array.from({ length: size.jobs / size.wipes }, () =>
        shop.order({ imageMs: random.between(0, 300) }),
      )
      await Promise.all(orders)
      await sleep(random.between(0, 500))
      const queued = await findQueued(platform)
      const wiped = performance.now()
      await redis.flushAll()
      await until(async () => {
        const waiting = new Set(await findQueued(platform))
        const left = queued.filter((id) => waiting.has(id))
        const known = await Promise.all(left.map((id) => redis.exists(`bull:try-on:${id}`)))
        return known.every((exists) => exists === 1)
      })
      rebuilt.push(performance.now() - wiped)
    }
    await platform.settle()
    await redis.close()
    await workers.stop()
    const slowest = Math.max(...rebuilt)
    return {
      accepted: shop.accepted,
      injected: { wipes: size.wipes },
      measured: { 'rebuilt within s': slowest / 1000 },
      violations: slowest > size.rebuiltMs ? [`the queue was rebuilt after ${slowest} ms`] : [],
    }
  },
}

/** IDs of the jobs that the queue should contain. */
async function findQueued({ database }: Platform): Promise<string[]> {
  const rows = await database.any(sql.type(JobId)`
    select outbox.generation_id || '-' || attempt as id
    from outbox join generations on generations.id = outbox.generation_id
    where dispatched_at is not null and status = 'PENDING'`)
  return rows.map(({ id }) => id)
}
