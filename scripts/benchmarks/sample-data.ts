import { v7 as uuidv7 } from 'uuid'
import { createImages } from '../../api/shared/stores/images.ts'
import { createProducts } from '../../api/stores/products.ts'
import type { Bench } from './bench.ts'

const DAY_MS = 86_400_000

export const EXTERNAL_ID = 'shirt'

/** A photo and a product for try-on requests. Nothing is stored under their keys. */
export async function insertSample({
  database,
  accountId,
}: Pick<Bench, 'database' | 'accountId'>): Promise<{ imageId: string }> {
  const imageId = `img_${uuidv7()}`
  await createImages(database).insert({
    id: imageId,
    accountId,
    objectKey: `persons/${accountId}/${imageId}.jpg`,
    externalUserId: null,
    bytes: 1,
    width: 800,
    height: 1000,
    cropMode: 'auto',
    expiresAt: new Date(Date.now() + DAY_MS),
  })
  await createProducts(database).upsert(accountId, {
    id: uuidv7(),
    externalId: EXTERNAL_ID,
    anonymous: false,
    images: [{ sourceUrl: 'https://shop.example/shirt.jpg', order: 0, classifications: null }],
    validForDays: null,
  })
  return { imageId }
}
