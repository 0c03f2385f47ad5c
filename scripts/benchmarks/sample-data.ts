import { v7 as uuidv7 } from 'uuid'
import { createProducts } from '../../api/products/products.store.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { createImages } from '../../api/shared/image/person-photos.store.ts'
import type { Bench } from './bench.ts'

const HOUR_MS = 3_600_000

export const EXTERNAL_ID = 'shirt'

/** The images of a sample product. */
export const PRODUCT_IMAGES = [{ sourceUrl: 'https://shop.example/shirt.jpg', order: 0, classifications: null }]

/** A photo and a product for try-on requests. Nothing is stored under their keys. */
export async function insertSample({
  database,
  accountId,
}: Pick<Bench, 'database' | 'accountId'>): Promise<{ imageId: string }> {
  const imageId = await insertPhoto(database, { accountId, expiresInHours: 24 })
  await createProducts(database).upsert(accountId, {
    id: uuidv7(),
    externalId: EXTERNAL_ID,
    anonymous: false,
    images: PRODUCT_IMAGES,
    validForDays: null,
  })
  return { imageId }
}

/** Inserts the row of a photo without its object. Returns its ID. */
export async function insertPhoto(
  database: Database,
  { accountId, expiresInHours }: { accountId: string; expiresInHours: number },
): Promise<string> {
  const id = `img_${uuidv7()}`
  await createImages(database).insert({
    id,
    accountId,
    objectKey: `persons/${accountId}/${id}.jpg`,
    externalUserId: null,
    bytes: 1,
    width: 800,
    height: 1000,
    cropMode: 'auto',
    expiresAt: new Date(Date.now() + expiresInHours * HOUR_MS),
  })
  return id
}
