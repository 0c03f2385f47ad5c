import sharp from 'sharp'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createPersonPhotos, type PersonPhotos } from '../../../api/photos/person-photos.ts'
import type { Prepared, PrepareJob } from '../../../api/shared/generations/generation.ts'
import { createImages } from '../../../api/shared/image/person-photos.store.ts'
import { type Consumer, createConsumer } from '../../../api/shared/queue/queue.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { formOf, readSmallPerson, startDrape } from '../../support/drape.ts'
import { createDevelopmentShop } from '../../support/shop.ts'

const FOUND: Prepared = {
  viewKey: null,
  crop: { x: 0, y: 0, width: 160, height: 200 },
  personDetected: true,
  warnings: [],
}

describe('the photo of an upload', async () => {
  let consumer: Consumer | undefined

  const drape = await startDrape()
  const shop = await createDevelopmentShop(drape)
  const redis = createRedis(drape.env.REDIS_URL, {
    role: 'consumer',
    log: createLog({ process: 'test', level: 'silent' }),
  })
  afterAll(async () => {
    await consumer?.close()
    await redis?.close()
    await drape?.stop()
  })

  const upload = async (fields: Record<string, string> = {}, file?: Buffer) => {
    const body = formOf(undefined, { file: file ?? (await readSmallPerson()) })
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

  it('is answered with what a worker found', async () => {
    const images = createImages(drape.database)
    consumer = createConsumer({
      redis,
      name: 'prepare',
      concurrency: 2,
      refuse: async () => null,
      handle: async ({ data }) => images.savePrepared((data as PrepareJob).imageId, FOUND),
    })
    await consumer.setTaking(true)
    await redis.announce({ queues: ['prepare'], engines: [], worker: 'busy', slots: 2, seconds: 600 })
    const [own, shopper] = await Promise.all([upload(), uploadInShop()])
    expect(own).toMatchObject({ crop: FOUND.crop, personDetected: true })
    expect(own).not.toHaveProperty('cropPending')
    expect(shopper.fileId).toMatch(/^img_/)
  })

  it('is not examined for a person if the image is a mask', async () => {
    const region = { width: 60, height: 40, channels: 3, background: '#fff' } as const
    for (const background of ['#000', '#0000']) {
      const canvas = { width: 160, height: 200, channels: 4, background } as const
      const mask = sharp({ create: canvas })
        .composite([{ input: { create: region } }])
        .blur(2)
      const uploaded = await upload({}, await mask.png().toBuffer())
      expect(uploaded).toMatchObject({ cropPending: true })
      expect(uploaded).not.toHaveProperty('warnings')
    }
  })

  it('is examined if a small person stands before a wide white or black background', async () => {
    const person = await sharp(await readSmallPerson())
      .resize(100)
      .toBuffer()
    for (const background of ['#000', '#fff', '#0000']) {
      const canvas = sharp({ create: { width: 500, height: 200, channels: 4, background } })
      const uploaded = await upload(
        {},
        await canvas
          .composite([{ input: person }])
          .png()
          .toBuffer(),
      )
      expect(uploaded).toHaveProperty('warnings')
      expect(uploaded).not.toHaveProperty('cropPending')
    }
  })
})

describe('the crop of an upload', () => {
  afterEach(() => void vi.useRealTimers())

  /** Photos with one worker that finds the person after `busyMs`. */
  function photosOfWorker(busyMs: number): PersonPhotos {
    const findsAt = Date.now() + busyMs
    const unused = async () => {
      throw new Error('unused')
    }
    const parts = {
      images: { find: async () => ({ ...FOUND, personDetected: Date.now() < findsAt ? null : true }) },
      storage: { exists: async () => false },
      prepareQueue: { run: async (_: unknown, maxMs: number) => void (await sleep(Math.min(busyMs, maxMs))) },
      reserveStorage: unused,
      fetchImage: unused,
      countWorkers: async () => 1,
    }
    return createPersonPhotos(parts as unknown as Parameters<typeof createPersonPhotos>[0])
  }

  it('is awaited for 15 s while the worker is busy, and no longer', async () => {
    vi.useFakeTimers()
    const photo = { imageId: 'img_1', objectKey: 'persons/acc_1/img_1.jpg', width: 160, height: 200 }
    const found = photosOfWorker(14_000).prepare(photo)
    await vi.advanceTimersByTimeAsync(14_000)
    expect(await found).toMatchObject({ crop: FOUND.crop, personDetected: true })
    const givenUp = photosOfWorker(16_000).prepare(photo)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await givenUp).toBeNull()
  })
})

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
