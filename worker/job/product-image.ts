import { createHash } from 'node:crypto'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import { type ProductImage, type TryOnJob, usableImages } from '../../api/shared/generations/generation.ts'
import type { WorkerOperations } from '../../api/shared/generations/worker-calls.ts'
import { keyOfFetched, type ProductImageUrl, storeFetched } from '../../api/shared/image/fetched-product-image.ts'
import { inField } from '../../api/shared/image/image-field.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { NewObject } from '../../api/shared/storage/objects.store.ts'

export interface ProductImageOptions {
  readonly storage: ObjectStorage
  readonly calls: Pick<WorkerOperations, 'insertProductImage'>
  /** Throws `PRODUCT_IMAGE_FETCH_FAILED`. */
  readonly fetchImage: (url: string) => Promise<Uint8Array>
}

/**
 * Loads the image of a product, the call's with this index, that the job's engine uses, with its bytes and their SHA-256. A URL is fetched once per version of the product's
 * images and then stored in the object storage. Throws `MISSING_REQUIRED_CLASSIFICATION`, `PRODUCT_IMAGE_FETCH_FAILED`, `INVALID_IMAGE` or
 * `UNSUPPORTED_IMAGE_TYPE`.
 */
export async function loadProductImage(
  job: Pick<TryOnJob, 'accountId' | 'engine' | 'garmentTypes' | 'product'> & { readonly index: number },
  options: ProductImageOptions,
): Promise<{ image: ProductImage; bytes: Uint8Array; hash: string }> {
  const { engine, garmentTypes } = job
  const [image] = usableImages(job.product.images, garmentTypes)
  if (!image) {
    const [key] = garmentTypes
    const message = `No image of the product is classified as ${key}, which the engine ${engine} needs.`
    throw new DrapeError('MISSING_REQUIRED_CLASSIFICATION', message, { details: { key } })
  }
  const loading = image.objectKey ? loadStored(image.objectKey, options) : loadFetched(job, image, options)
  const bytes = await inField(`products[${job.index}].images[${image.order}]`, loading)
  return { image, bytes, hash: createHash('sha256').update(bytes).digest('hex') }
}

async function loadStored(key: string, { storage }: ProductImageOptions): Promise<Uint8Array> {
  const bytes = await storage.get(key)
  if (!bytes) throw new DrapeError('PRODUCT_IMAGE_FETCH_FAILED', 'The stored product image has been deleted.')
  return bytes
}

async function loadFetched(
  { accountId, product }: Pick<TryOnJob, 'accountId' | 'product'>,
  { sourceUrl }: ProductImage,
  options: ProductImageOptions,
): Promise<Uint8Array> {
  const image = { accountId, productId: product.id, edition: product.imagesEdition, url: sourceUrl }
  return (await options.storage.get(keyOfFetched(image))) ?? store(image, options)
}

function store(image: ProductImageUrl, { storage, calls, fetchImage }: ProductImageOptions): Promise<Uint8Array> {
  const insert = ({ key, accountId, bytes }: NewObject) =>
    calls.insertProductImage({ key, accountId, bytes: bytes ?? 0 })
  return storeFetched(image, { storage, objects: { insert }, fetchImage })
}
