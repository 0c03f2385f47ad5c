import { createHash } from 'node:crypto'
import type { FetchImage } from '../network/fetch-image.ts'
import type { ObjectStorage } from '../storage/object.ts'
import type { Objects } from '../storage/objects.store.ts'
import { normaliseImage } from './image.ts'

export interface FetchedProductImageOptions {
  readonly storage: Pick<ObjectStorage, 'put'>
  readonly objects: Pick<Objects, 'insert'>
  /** Throws `PRODUCT_IMAGE_FETCH_FAILED`. */
  readonly fetchImage: (url: string) => Promise<Uint8Array> | ReturnType<FetchImage>
  /** Called with the size and a function that stores the image. Throws to refuse the image. */
  readonly reserve?: (bytes: number, store: () => Promise<void>) => Promise<void>
}

/** URL of a product image, for one edition of the product's images. */
export interface ProductImageUrl {
  readonly accountId: string
  readonly productId: string
  readonly edition: string
  readonly url: string
}

/** Object key of a fetched image, in the folder of its product. */
export function keyOfFetched({ accountId, productId, edition, url }: ProductImageUrl): string {
  const name = createHash('sha256').update(`${edition} ${url}`).digest('hex')
  return `products/${accountId}/${productId}/${name}.bin`
}

/**
 * Fetches, normalises and stores the image. Returns its bytes. Throws `PRODUCT_IMAGE_FETCH_FAILED`, `INVALID_IMAGE` or
 * `UNSUPPORTED_IMAGE_TYPE`.
 */
export async function storeFetched(
  image: ProductImageUrl,
  { storage, objects, fetchImage, reserve = (_, store) => store() }: FetchedProductImageOptions,
): Promise<Uint8Array> {
  const { bytes } = await normaliseImage(await fetchImage(image.url), { owner: image.accountId })
  const { accountId } = image
  const key = keyOfFetched(image)
  await reserve(bytes.byteLength, async () => {
    await objects.insert({
      key,
      accountId,
      bytes: bytes.byteLength,
      externalUserId: null,
      kind: 'product',
      expiresAt: null,
    })
    await storage.put(key, bytes, { contentType: 'application/octet-stream' })
  })
  return bytes
}
