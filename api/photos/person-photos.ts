import { v7 as uuidv7 } from 'uuid'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import { readUpload, type UploadedFile } from '../http/bodies/uploaded-file.ts'
import { within } from '../http/limits/time-limit.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { type Prepared, type PrepareJob, prepareJobId, viewKeyOf } from '../shared/generations/generation.ts'
import { type ImageFile, looksLikeMask, normaliseImage } from '../shared/image/image.ts'
import { inField } from '../shared/image/image-field.ts'
import { hashImage } from '../shared/image/image-hash.ts'
import type { Images } from '../shared/image/person-photos.store.ts'
import type { JobQueue } from '../shared/queue/queue.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { ReserveStorage } from './storage-quota.ts'

export interface PersonPhotos {
  /**
   * Resolves the image that a try-on call names: an existing ID unchanged; a file or URL is stored now (and always
   * cropped to 4:5). Image errors name the `field` of the call.
   */
  resolve(
    source: { id?: string; url?: string; fileKey?: string },
    call: StoreCall & { files: readonly UploadedFile[]; field: string },
  ): Promise<{ imageId: string; uploadedNow: boolean }>
  /** Normalises and stores a photo; idempotent for the same ID. `isMask` is found only for what may be a mask. Throws `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE`. */
  store(
    file: ImageFile,
    call: StoreCall & { cropMode: 'auto' | 'none'; imageId?: string; mayBeMask?: boolean },
  ): Promise<StoredPhoto & { readonly isMask: boolean }>
  /** Waits up to 15 s for a worker to detect the person; null on timeout, and at once without workers. A worker records the crop in any case. */
  prepare(photo: StoredPhoto): Promise<Prepared | null>
  /** Deletes a photo that no generation uses. The sweep deletes what the storage does not delete now. */
  discard(imageId: string): Promise<void>
}

export interface StoreCall {
  readonly account: AccountRecord
  readonly externalUserId: string | null
  /** A second owner, who can use the photo in try-ons and nothing else. */
  readonly addressUserId?: string | null
  readonly keepForDays: number | null
  /** When the request arrived, by `performance.now()`: the photo is not stored if its end user was erased since then. */
  readonly receivedAt: number
  /** Aborts the wait for decoding; the photo is not stored then. */
  readonly signal?: AbortSignal
}

export interface StoredPhoto {
  readonly imageId: string
  readonly objectKey: string
  readonly width: number
  readonly height: number
}

/** For a call whose end user was erased after it had arrived. */
export function erasedMeanwhile(): DrapeError {
  const message = 'was erased before the request was accepted'
  return new DrapeError('VALIDATION_FAILED', `The end user ${message}. Send the call again.`, {
    details: [{ path: 'externalUserId', message }],
  })
}

/** Maximum wait of an upload for its crop: a caller who continues without one shows an uncropped preview. */
const PREPARE_MS = 15_000
/** Maximum wait for the number of workers. */
const COUNT_MS = 3000
const DAY_MS = 86_400_000

export function createPersonPhotos({
  images,
  storage,
  reserveStorage,
  fetchImage,
  prepareQueue,
  countWorkers,
}: {
  images: Images
  storage: ObjectStorage
  reserveStorage: ReserveStorage
  fetchImage: (url: string, accountId: string) => Promise<Uint8Array>
  prepareQueue: JobQueue<PrepareJob>
  /** Slots of workers that take `prepare` jobs. */
  countWorkers: () => Promise<number>
}): PersonPhotos {
  const photos: PersonPhotos = {
    resolve: async (source, { files, field, ...call }) => {
      if (source.id !== undefined) return { imageId: source.id, uploadedNow: false }
      const { url, fileKey = '' } = source
      const store = async () => {
        const file = url !== undefined ? await fetchImage(url, call.account.id) : () => readUpload(fileKey, files)
        return photos.store(file, { ...call, cropMode: 'auto' })
      }
      const { imageId } = await inField(field, store())
      return { imageId, uploadedNow: true }
    },

    store: async (
      file,
      {
        account,
        externalUserId,
        addressUserId,
        keepForDays: asked,
        receivedAt,
        signal,
        cropMode,
        imageId = `img_${uuidv7()}`,
        mayBeMask = false,
      },
    ) => {
      // Test data is kept for 1 day.
      const keepForDays = account.testOf === null ? asked : null
      const normalised = await normaliseImage(file, { owner: account.id, signal })
      const extension = normalised.contentType === 'image/png' ? 'png' : 'jpg'
      const objectKey = `persons/${account.id}/${imageId}.${extension}`
      const { width, height } = normalised
      const expiresAt = new Date(Date.now() + (keepForDays ?? account.retentionDays) * DAY_MS)
      const bytes = normalised.bytes.byteLength
      const hash = (await hashImage(normalised.bytes))?.hash ?? null
      const isMask = mayBeMask && (await looksLikeMask(normalised.bytes))
      await reserveStorage(account, bytes, async () => {
        const isStored = await images.insert({
          waitedSeconds: (performance.now() - receivedAt) / 1000,
          id: imageId,
          accountId: account.id,
          objectKey,
          bytes,
          hash,
          externalUserId,
          addressUserId,
          width,
          height,
          cropMode,
          keepForDays,
          expiresAt,
        })
        if (!isStored) throw erasedMeanwhile()
        try {
          await storage.put(objectKey, normalised.bytes, { contentType: normalised.contentType })
        } catch (error) {
          // The bytes may exist although the response was lost, or may still arrive: erasure and sweep find them by the
          // row.
          await images.abandon(imageId)
          throw error
        }
      })
      return { imageId, objectKey, width, height, isMask }
    },

    prepare: async ({ imageId, objectKey }) => {
      try {
        if ((await within(COUNT_MS, countWorkers())) === 0) return null
        await prepareQueue.run({ id: prepareJobId(imageId), data: { imageId } }, PREPARE_MS)
        const found = await images.find(imageId)
        if (found === null || found.personDetected === null) return null
        const { crop, personDetected, warnings } = found
        const viewKey = viewKeyOf(objectKey)
        return { viewKey: (await storage.exists(viewKey)) ? viewKey : null, crop, personDetected, warnings }
      } catch {
        // The crop is optional here: while the queue is unavailable, a worker detects it at first use.
        return null
      }
    },

    discard: async (imageId) => {
      const objectKey = await images.abandon(imageId)
      if (objectKey !== null) await storage.delete([objectKey]).catch(() => {})
    },
  }
  return photos
}
