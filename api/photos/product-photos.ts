import { createHash } from 'node:crypto'
import { readUpload, type UploadedFile } from '../bodies/uploaded-file.ts'
import type { ReserveStorage } from '../limits/storage-quota.ts'
import { DrapeError } from '../shared/errors.ts'
import type { ProductImage } from '../shared/generation.ts'
import { normaliseImage } from '../shared/image.ts'
import { inField } from '../shared/image-field.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/stores/objects.ts'
import { createTurns } from '../shared/turns.ts'
import type { AccountRecord } from '../stores/accounts.ts'

interface ImageEntry {
  readonly source: { readonly url?: string; readonly fileKey?: string }
  readonly classifications?: Readonly<Record<string, unknown>>
}

export interface ProductPhotos {
  /**
   * The images of a product as they are recorded. URLs are only noted (a worker fetches them); files are normalised and
   * stored under the hash of their bytes, named again by `upload://` and that hash. Throws `INVALID_IMAGE_INPUT` for an unknown name, `MULTIPART_FILE_NOT_FOUND`, `QUOTA_EXCEEDED`, `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE`.
   * Errors of an image name the field that `fieldOf` returns for its index.
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

/** Files of one call that are in memory at once. */
const CONCURRENT_FILES = 4
const STORED = 'upload://'

/** How long bytes may lie around whose call was refused afterwards; acceptance clears the date. */
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
    await reserveStorage(account, bytes)
    await objects.insert({
      key: objectKey,
      accountId: account.id,
      externalUserId: null,
      kind: 'product',
      bytes,
      expiresAt,
    })
    await storage.put(objectKey, normalised.bytes, { contentType: normalised.contentType })
    return { sourceUrl: `upload://${hash}`, objectKey }
  }

  async function findStored(sourceUrl: string, { id: accountId }: AccountRecord, order: number) {
    const name = `products/${accountId}/${sourceUrl.slice(STORED.length)}`
    const objectKey = await objects.keepProduct({ accountId, keys: [`${name}.jpg`, `${name}.png`] })
    if (objectKey !== null) return { sourceUrl, objectKey }
    throw new DrapeError(
      'INVALID_IMAGE_INPUT',
      `Image ${order} names bytes that are not stored any more; send the file again.`,
    )
  }

  return {
    store: async (images, { account, files, fieldOf, signal }) => {
      const inTurn = createTurns(CONCURRENT_FILES)
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
