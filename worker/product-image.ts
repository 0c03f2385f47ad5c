import { createHash } from 'node:crypto'
import { DrapeError } from '../api/shared/errors.ts'
import { type ProductImage, type TryOnJob, usableImages } from '../api/shared/generation.ts'
import { normaliseImage } from '../api/shared/image.ts'
import type { ObjectStorage } from '../api/shared/storage/object.ts'
import type { Objects } from '../api/shared/stores/objects.ts'

export interface ProductImageOptions {
  readonly storage: ObjectStorage
  readonly objects: Objects
  /** Throws `PRODUCT_IMAGE_FETCH_FAILED`. */
  readonly fetchImage: (url: string) => Promise<Uint8Array>
}

/**
 * The product image that the job's engine works from, with its bytes and their SHA-256. A URL is fetched once for an edition of the product's images and kept
 * beside the other objects. Throws `MISSING_REQUIRED_CLASSIFICATION`, `PRODUCT_IMAGE_FETCH_FAILED`, `INVALID_IMAGE` or
 * `UNSUPPORTED_IMAGE_TYPE`.
 */
export async function loadProductImage(
  job: Pick<TryOnJob, 'accountId' | 'engine' | 'product'>,
  options: ProductImageOptions,
): Promise<{ image: ProductImage; bytes: Uint8Array; hash: string }> {
  const [image] = usableImages(job.product.images, job.engine)
  if (!image) {
    throw new DrapeError('MISSING_REQUIRED_CLASSIFICATION', 'No image of the product shows the garment lying flat.', {
      details: { key: 'flat_lay' },
    })
  }
  const bytes = image.objectKey ? await loadStored(image.objectKey, options) : await loadFetched(job, image, options)
  return { image, bytes, hash: createHash('sha256').update(bytes).digest('hex') }
}

async function loadStored(key: string, { storage }: ProductImageOptions): Promise<Uint8Array> {
  const bytes = await storage.get(key)
  if (!bytes) throw new DrapeError('PRODUCT_IMAGE_FETCH_FAILED', 'The stored product image does not exist any more.')
  return bytes
}

async function loadFetched(
  { accountId, product }: Pick<TryOnJob, 'accountId' | 'product'>,
  { sourceUrl }: ProductImage,
  { storage, objects, fetchImage }: ProductImageOptions,
): Promise<Uint8Array> {
  const name = createHash('sha256').update(`${product.imagesEdition} ${sourceUrl}`).digest('hex')
  const key = `products/${accountId}/${product.id}/${name}.bin`
  const known = await storage.get(key)
  if (known) return known
  const { bytes } = await normaliseImage(await fetchImage(sourceUrl))
  const about = { accountId, externalUserId: null, kind: 'product', expiresAt: null } as const
  await objects.insert({ key, bytes: bytes.byteLength, ...about })
  await storage.put(key, bytes, { contentType: 'application/octet-stream' })
  return bytes
}
