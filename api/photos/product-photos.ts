import { createHash } from 'node:crypto'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import { readUpload, type UploadedFile } from '../http/bodies/uploaded-file.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { ProductImage } from '../shared/generations/generation.ts'
import { normaliseImage } from '../shared/image/image.ts'
import { inField } from '../shared/image/image-field.ts'
import { createFairLimiter } from '../shared/process/fair-limiter.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/storage/objects.store.ts'
import type { ReserveStorage } from './storage-quota.ts'

interface ImageEntry {
  readonly source: { readonly url?: string; readonly fileKey?: string }
  readonly classifications?: Readonly<Record<string, unknown>>
}

export interface ProductPhotos {
  /**
   * Prepares the images of a product for storage. Records URLs (a worker fetches them); normalises files and stores
   * them under the hash of their bytes, which `upload://` refers to. Throws `INVALID_IMAGE_INPUT` for an unknown name,
   * `MULTIPART_FILE_NOT_FOUND`, `QUOTA_EXCEEDED`, `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE`. Image errors name the
   * field that `fieldOf` returns for the index.
   */
  store(
    images: readonly ImageEntry[],
    call: {
      account: AccountRecord
      files: readonly UploadedFile[]
      fieldOf: (index: number) => string
      signal?: AbortSignal
    },
  ): Promise<ProductImage[]>
}

/** Maximum number of files of one call in memory. */
const CONCURRENT_FILES = 4
const STORED = 'upload://'

/** Lifetime of bytes whose call is refused afterwards; acceptance removes the expiry. */
const UNCLAIMED_MS = 3_600_000

export function createProductPhotos({
  objects,
  storage,
  reserveStorage,
}: {
  objects: Objects
  storage: ObjectStorage
  reserveStorage: ReserveStorage
}): ProductPhotos {
  async function storeFile(
    read: () => Promise<Uint8Array>,
    { account, signal }: { account: AccountRecord; signal?: AbortSignal },
  ): Promise<{ sourceUrl: string; objectKey: string }> {
    let hash = ''
    const readHashed = async () => {
      const bytes = await read()
      hash = createHash('sha256').update(bytes).digest('hex')
      return bytes
    }
    const normalised = await normaliseImage(readHashed, { owner: account.id, signal })
    const objectKey = `products/${account.id}/${hash}.${normalised.contentType === 'image/png' ? 'png' : 'jpg'}`
    const expiresAt = new Date(Date.now() + UNCLAIMED_MS)
    const { byteLength: bytes } = normalised.bytes
    await reserveStorage(account, bytes, async () => {
      await objects.insert({
        key: objectKey,
        accountId: account.id,
        externalUserId: null,
        kind: 'product',
        bytes,
        expiresAt,
      })
      await storage.put(objectKey, normalised.bytes, { contentType: normalised.contentType })
    })
    return { sourceUrl: `upload://${hash}`, objectKey }
  }

  async function findStored(sourceUrl: string, { id: accountId }: AccountRecord, order: number) {
    const name = `products/${accountId}/${sourceUrl.slice(STORED.length)}`
    const objectKey = await objects.keepProduct({ accountId, keys: [`${name}.jpg`, `${name}.png`] })
    if (objectKey !== null) return { sourceUrl, objectKey }
    throw new DrapeError(
      'INVALID_IMAGE_INPUT',
      `Image ${order} refers to bytes that are no longer stored. Send the file again.`,
    )
  }

  return {
    store: async (images, { account, files, fieldOf, signal }) => {
      const inTurn = createFairLimiter(CONCURRENT_FILES)
      return Promise.all(
        images.map(async ({ source, classifications = null }, order) => {
          if (source.url?.startsWith(STORED)) {
            const stored = await inField(fieldOf(order), findStored(source.url, account, order))
            return { ...stored, order, classifications }
          }
          if (source.url !== undefined) return { sourceUrl: source.url, order, classifications }
          const read = () => readUpload(source.fileKey ?? '', files)
          const stored = await inField(
            fieldOf(order),
            inTurn(() => storeFile(read, { account, signal })),
          )
          return { ...stored, order, classifications }
        }),
      )
    },
  }
}
