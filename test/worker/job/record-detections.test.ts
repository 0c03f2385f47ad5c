import { v7 as uuidv7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createWorkerOperations } from '../../../api/generations/worker-operations.ts'
import { createProducts } from '../../../api/products/products.store.ts'
import type { Detected } from '../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { createImages } from '../../../api/shared/image/person-photos.store.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createRecordDetections } from '../../../worker/job/record-detections.ts'
import { type Caller, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const FLAT: Detected = { type: 'flat_lay', view: 'front', category: 'tops', confidence: 0.9 }
const FOUND = { crop: { x: 1, y: 2, width: 400, height: 500 }, personDetected: true, warnings: ['blurred'] }

describe('the detections of a try-on', async () => {
  const { database } = await openTestDatabase({ poolSize: 5 })
  let caller: Caller

  const products = createProducts(database)
  const images = createImages(database)
  const recordDetections = createRecordDetections({
    calls: createWorkerOperations(database, createGenerations(database)),
    log: createLog({ process: 'test', level: 'silent' }),
  })
  beforeEach(async () => {
    caller = await createCaller(database, 10)
  })

  const sources = ['https://shop.example/back.jpg', 'https://shop.example/front.jpg']
  const save = (urls = sources) =>
    products.upsert(caller.accountId, {
      id: uuidv7(),
      externalId: 'shirt',
      anonymous: false,
      images: urls.map((sourceUrl, order) => ({
        sourceUrl,
        order,
        classifications: order === 0 ? { type: 'detail' } : null,
      })),
    })
  const stored = () => products.find({ accountId: caller.accountId, externalId: 'shirt' })
  /** A job with the product as it is now. */
  const job = async () => {
    const product = await stored()
    if (!product) throw new Error('there is no product')
    const { id, imagesEdition, title, description, images: all } = product
    return {
      engine: 'warp' as const,
      garmentTypes: ['flat_lay', 'ghost_mannequin'],
      person: { imageId: caller.imageId, objectKey: '', cropMode: 'auto' as const, crop: null },
      product: { id, imagesEdition, title, description, images: all },
    }
  }

  it('are stored with the classifications of the used image', async () => {
    await save()
    await recordDetections(await job(), { found: null, detected: FLAT })
    expect((await stored())?.detected).toEqual({ 1: FLAT })
    expect((await stored())?.images[1].classifications).toBeNull()
  })

  it('do not edit the product: resending the same images keeps detections and generation', async () => {
    await save()
    const before = await stored()
    await recordDetections(await job(), { found: null, detected: FLAT })
    expect((await stored())?.updatedAt).toEqual(before?.updatedAt)
    await save()
    const after = await stored()
    expect(after?.imagesEdition).toBe(before?.imagesEdition)
    expect(after?.detected).toEqual({ 1: FLAT })
  })

  it('are deleted with their images, and not restored by a late job', async () => {
    await save()
    const late = await job()
    await recordDetections(late, { found: null, detected: FLAT })
    await save(['https://shop.example/back.jpg', 'https://shop.example/other.jpg'])
    expect((await stored())?.detected).toBeNull()
    await recordDetections(late, { found: null, detected: FLAT })
    expect((await stored())?.detected).toBeNull()
  })

  it('keep the first value for a photo', async () => {
    await save()
    await recordDetections(await job(), { found: FOUND, detected: null })
    await recordDetections(await job(), { found: { ...FOUND, personDetected: false, warnings: [] }, detected: null })
    expect(await images.find(caller.imageId)).toMatchObject(FOUND)
  })

  it('may refer to deleted images', async () => {
    await save()
    const late = await job()
    await products.delete({ accountId: caller.accountId, externalId: 'shirt' })
    await images.abandon(caller.imageId)
    await expect(recordDetections(late, { found: FOUND, detected: FLAT })).resolves.toBeUndefined()
  })
})
