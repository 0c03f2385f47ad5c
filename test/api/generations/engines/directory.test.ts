import { describe, expect, it } from 'vitest'
import { createEngineDirectory } from '../../../../api/generations/engines/directory.ts'
import { createPublishedEngines } from '../../../../api/generations/engines/published-engines.store.ts'
import { createEngineCards, type EngineCard } from '../../../../api/shared/engines/engine-cards.ts'
import { createRedis } from '../../../../api/shared/queue/redis.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { openTestDatabase } from '../../../support/postgres.ts'
import { createTestRedis } from '../../../support/redis.ts'

describe('engines that only workers name', async () => {
  const { database } = await openTestDatabase({ poolSize: 1 })

  it('are found beside entries that no worker has written', async () => {
    const log = createLog({ process: 'test', level: 'silent' })
    const redis = createRedis(await createTestRedis(), { role: 'producer', log })
    await expect.poll(redis.isReady).toBe(true)
    const worker = { queues: ['try-on'], engines: ['studio'], worker: 'good', slots: 2 } as const
    await redis.announce({ ...worker, seconds: 60 })
    for (const value of ['{', 'null', '{"worker":1}', 'studio bad:x']) {
      await redis.client.zAdd('drape:workers:try-on', { value, score: Date.now() + 60_000 })
      await redis.client.hSet('drape:engines', value, value)
    }
    expect(await redis.findWorkers('try-on')).toEqual([{ worker: 'good', slots: 2, engines: ['studio'] }])
    expect(await redis.countSlots('try-on')).toBe(2)
    expect(await createEngineCards(redis).find()).toEqual(new Map())
    await redis.close()
  })

  it('keep their last description while Redis is unavailable, and others are unavailable', async () => {
    const redis = createRedis(await createTestRedis(), {
      role: 'producer',
      log: createLog({ process: 'test', level: 'silent' }),
    })
    await expect.poll(redis.isReady).toBe(true)
    const cards = createEngineCards(redis)
    const card: EngineCard = { version: '1', kind: 'photo', license: 'MIT', categories: [], seenAt: 0 }
    await cards.report(new Map([['studio', { ...card, garmentTypes: ['on_model'] }]]))
    let now = 1_000_000
    const published = createPublishedEngines(database)
    const engines = createEngineDirectory({ redis, cards, published, configured: ['warp'], now: () => now })
    expect(await engines.find('studio')).toMatchObject({ state: 'unavailable', garmentTypes: ['on_model'] })
    expect(await engines.find('other')).toBeNull()
    await redis.close()
    now += 10_000
    expect(await engines.find('studio')).toMatchObject({ state: 'scaling_from_zero', garmentTypes: ['on_model'] })
    expect(await engines.find('other')).toMatchObject({ name: 'other', state: 'unavailable' })
    expect(await engines.find('No Engine')).toBeNull()
  })
})
