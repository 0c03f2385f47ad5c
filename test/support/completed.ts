import { v7 as uuidv7 } from 'uuid'
import { acceptGeneration } from '../../api/generations/acceptance.store.ts'
import { createGenerations } from '../../api/shared/generations/generations.store.ts'
import { createImages } from '../../api/shared/image/person-photos.store.ts'
import { contentTypeOf } from '../../api/shared/storage/object.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import { createStorage, type ObjectStorage } from '../../api/shared/storage/storage.ts'
import { callOf } from './accepted.ts'
import type { Drape } from './drape.ts'

export interface ShopGeneration {
  readonly generationId: string
  readonly resultKey: string
}

export interface ShopGenerationOptions {
  readonly shopId: string
  readonly accountId?: string
  /** Default: a browser without a customer. */
  readonly shopper?: string
  /** Default: a new product. */
  readonly productId?: string
  readonly title?: string | null
  readonly description?: string | null
  readonly sourceUrl?: string
  readonly image: Buffer
  readonly extension?: 'jpg' | 'png' | 'webp'
}

/** A waiting generation of a shopper. */
export async function acceptForShop(drape: Drape, options: Omit<ShopGenerationOptions, 'image'>): Promise<string> {
  const { shopId, accountId = drape.accountId, shopper = 'browser:anon_tester' } = options
  const { productId = `gid://shopify/Product/${uuidv7()}` } = options
  const { title = 'Navy T-shirt', description = null, sourceUrl = 'https://shop.example/shirt.jpg' } = options
  const externalUserId = `${shopId}:${shopper}`
  const imageId = `img_${uuidv7()}`
  await createImages(drape.database).insert({
    id: imageId,
    accountId,
    objectKey: `persons/${accountId}/${imageId}.jpg`,
    bytes: 1,
    externalUserId,
    width: 800,
    height: 1000,
    cropMode: 'auto',
    expiresAt: new Date(Date.now() + 86_400_000),
  })
  const call = callOf({ accountId, imageId })
  await acceptGeneration(drape.database, {
    ...call,
    externalUserId,
    engine: 'mock',
    cost: 0,
    product: {
      ...call.product,
      id: uuidv7(),
      externalId: productId,
      title: title ?? undefined,
      description: description ?? undefined,
      images: [{ sourceUrl, order: 0, classifications: null }],
    },
    shop: { id: shopId, weeklyGenerations: 1_000_000 },
    shopperHash: 'hash of the shopper',
  })
  return call.generationId
}

/** A completed generation of a shopper, with an image. */
export async function completeForShop(drape: Drape, options: ShopGenerationOptions): Promise<ShopGeneration> {
  const generationId = await acceptForShop(drape, options)
  const generations = createGenerations(drape.database)
  const attempt = { id: generationId, attempt: 1 }
  const { accountId = drape.accountId, extension = 'jpg' } = options
  const resultKey = `results/${accountId}/${uuidv7()}.${extension}`
  await generations.start({ ...attempt, worker: 'test' })
  await createObjects(drape.database).insertResult({ key: resultKey, bytes: options.image.length, ...attempt })
  await (await storageOf(drape)).put(resultKey, options.image, { contentType: contentTypeOf(resultKey) })
  const engineInfo = { name: 'mock', version: '1', license: 'Apache-2.0', kind: 'test' }
  const outcome = { resultKey, warnings: [], timings: {}, engineInfo, category: null }
  await generations.complete({ ...attempt, outcome })
  return { generationId, resultKey }
}

/** The storage of the API; creates no links. */
export function storageOf(drape: Drape): Promise<ObjectStorage> {
  return createStorage(drape.env.STORAGE_URL, { publicUrl: drape.api.url, signingSecret: '' })
}
