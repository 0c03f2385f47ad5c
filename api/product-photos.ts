import { createHash } from 'node:crypto'
import type { ProductImage } from './shared/generation.ts'
import { normaliseImage } from './shared/image.ts'
import type { ObjectStorage } from './shared/storage/object.ts'
import type { Objects } from './shared/stores/objects.ts'
import { readUpload, type UploadedFile } from './uploaded-file.ts'

interface ImageEntry {
  readonly source: { readonly url?: string; readonly fileKey?: string }
  readonly classifications?: Readonly<Record<string, unknown>>
}

export interface ProductPhotos {
  /**
   * The images of a product as they are recorded. URLs are only noted (a worker fetches them); files are normalised and
   * stored under the hash of their bytes. Throws `MULTIPART_FILE_NOT_FOUND`, `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE`.
   */
  store(
    images: readonly ImageEntry[],
    call: { accountId: string; files: readonly UploadedFile[] },
  ): Promise<ProductImage[]>
}

/** How long bytes may lie around whose call was refused afterwards; acceptance clears the date. */
const UNCLAIMED_MS = 3_600_000

export function createProductPhotos({ objects, storage }: { objects: Objects; storage: ObjectStorage }): ProductPhotos {
  async function storeFile(
    read: () => Promise<Uint8Array>,
    accountId: string,
  ): Promise<{ sourceUrl: string; objectKey: string }> {
    let hash = ''
    const normalised = await normaliseImage(async () => {
      const bytes = await read()
      hash = createHash('sha256').update(bytes).digest('hex')
      return bytes
    })
    const objectKey = `products/${accountId}/${hash}.${normalised.contentType === 'image/png' ? 'png' : 'jpg'}`
    const expiresAt = new Date(Date.now() + UNCLAIMED_MS)
    const { byteLength: bytes } = normalised.bytes
    await objects.insert({ key: objectKey, accountId, externalUserId: null, kind: 'product', bytes, expiresAt })
    await storage.put(objectKey, normalised.bytes, { contentType: normalised.contentType })
    return { sourceUrl: `upload://${hash}`, objectKey }
  }

  return {
    store: (images, { accountId, files }) =>
      Promise.all(
        images.map(async ({ source, classifications = null }, order) => {
          if (source.url !== undefined) return { sourceUrl: source.url, order, classifications }
          const stored = await storeFile(() => readUpload(source.fileKey ?? '', files), accountId)
          return { ...stored, order, classifications }
        }),
      ),
  }
}
