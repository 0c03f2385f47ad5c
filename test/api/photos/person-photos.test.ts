import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Prepared } from '../../../api/shared/generation.ts'
import { createLog } from '../../../api/shared/log.ts'
import { type Consumer, createConsumer } from '../../../api/shared/queue.ts'
import { createRedis, type Redis } from '../../../api/shared/redis.ts'
import { type Drape, formOf, readSmallPerson, startDrape } from '../../support/drape.ts'
import { createDevelopmentShop, type TestShop } from '../../support/shop.ts'

const PREPARED: Prepared = {
  ...{ viewKey: null, crop: { x: 0, y: 0, width: 160, height: 200 }, personDetected: true, warnings: [] },
}

describe('the photo of an upload', () => {
  let drape: Drape
  let shop: TestShop
  let redis: Redis
  let consumer: Consumer | undefined

  beforeAll(async () => {
    drape = await startDrape()
    shop = await createDevelopmentShop(drape)
    redis = createRedis(drape.env.REDIS_URL, { role: 'consumer', log: createLog({ process: 'test', level: 'silent' }) })
  })
  afterAll(async () => {
    await consumer?.close()
    await redis?.close()
    await drape?.stop()
  })

  const upload = async (fields: Record<string, string> = {}) => {
    const body = formOf(undefined, { file: await readSmallPerson() })
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    return (await drape.call('POST', '/tryon/v1/images/upload', { body })).body
  }
  const uploadInShop = async () => {
    const body = formOf(undefined, { file: await readSmallPerson() })
    return (await drape.call('POST', '/public/upload-image', { headers: shop.headers, body, key: null })).body
  }

  it('is marked as not cropped yet where no worker runs, but not where no crop was asked for', async () => {
    const pending = await upload()
    expect(pending).toMatchObject({ cropPending: true })
    expect(pending).not.toHaveProperty('crop')
    expect(await upload({ crop: 'false' })).not.toHaveProperty('cropPending')
    expect(await uploadInShop()).toMatchObject({ cropPending: true, message: expect.stringContaining('first try-on') })
  })

  it('is awaited while a worker is busy for longer than 3 s', async () => {
    consumer = createConsumer({
      ...{ redis, name: 'prepare', concurrency: 2, refuse: async () => null },
      handle: async () => {
        await sleep(4000)
        return PREPARED
      },
    })
    await consumer.setTaking(true)
    await redis.announce({ queues: ['prepare'], engines: [], worker: 'busy', slots: 2, seconds: 60 })
    const [own, shopper] = await Promise.all([upload(), uploadInShop()])
    expect(own).toMatchObject({ crop: PREPARED.crop, personDetected: true })
    expect(own).not.toHaveProperty('cropPending')
    expect(shopper.fileId).toMatch(/^img_/)
  })
})
