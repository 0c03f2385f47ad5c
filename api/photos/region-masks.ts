import { v7 as uuidv7 } from 'uuid'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import { readUpload, type UploadedFile } from '../http/bodies/uploaded-file.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { type NormalisedMask, normaliseMask } from '../shared/image/image.ts'
import { inField } from '../shared/image/image-field.ts'
import type { Images } from '../shared/image/person-photos.store.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/storage/objects.store.ts'
import type { ReserveStorage } from './storage-quota.ts'

export interface RegionMasks {
  /**
   * Reads the mask of a call: the region that may change is white. Image errors name the `field` of the call.
   * @throws DrapeError VALIDATION_FAILED if nothing may change, and for an image that the account does not have
   */
  read(
    mask: {
      readonly image: { readonly source: { id?: string; url?: string; fileKey?: string } }
      readonly keep: boolean
    },
    call: {
      readonly account: AccountRecord
      readonly files: readonly UploadedFile[]
      readonly field: string
      readonly signal?: AbortSignal
    },
  ): Promise<NormalisedMask>
  /**
   * Stores the mask of a photo, for 1 hour until its generation is accepted, and returns its key. Stores nothing if the account has no such photo:
   * the acceptance refuses the call.
   * @throws DrapeError VALIDATION_FAILED for another aspect ratio than that of the photo, QUOTA_EXCEEDED
   */
  store(
    mask: NormalisedMask,
    about: {
      readonly account: AccountRecord
      readonly generationId: string
      readonly imageId: string
      readonly field: string
    },
  ): Promise<string>
  /** Deletes the mask of a refused call. The sweep deletes what the storage does not delete now. */
  discard(key: string): Promise<void>
}

export function createRegionMasks({
  images,
  objects,
  storage,
  reserveStorage,
  fetchImage,
}: {
  images: Images
  objects: Objects
  storage: ObjectStorage
  reserveStorage: ReserveStorage
  fetchImage: (url: string, accountId: string) => Promise<Uint8Array>
}): RegionMasks {
  async function readUploaded(id: string, { id: accountId }: AccountRecord, field: string): Promise<Uint8Array> {
    const image = await images.find(id)
    const isTheirs = image !== null && image.accountId === accountId && image.expiresAt.getTime() > Date.now()
    const bytes = isTheirs ? await storage.get(image.objectKey) : null
    if (bytes === null) throw invalid(`${field}.source.id`, 'does not exist or has expired')
    return bytes
  }

  return {
    read: async ({ image: { source }, keep }, { account, files, field, signal }) => {
      const { id, url, fileKey = '' } = source
      const bytesOf = () =>
        id !== undefined
          ? readUploaded(id, account, field)
          : url !== undefined
            ? fetchImage(url, account.id)
            : readUpload(fileKey, files)
      const mask = await inField(
        field,
        (async () => normaliseMask(await bytesOf(), { owner: account.id, signal, isInverted: keep }))(),
      )
      if (mask.isEmpty)
        throw invalid(
          field,
          keep ? 'must have a black region, which may change' : 'must have a white region, which may change',
        )
      return mask
    },

    store: ({ bytes, width, height }, { account, field, ...about }) =>
      reserveStorage(account, bytes.byteLength, async () => {
        const { id: accountId } = account
        const key = `persons/${accountId}/mask_${uuidv7()}.png`
        const photo = await objects.insertMask({ ...about, accountId, key, width, height, bytes: bytes.byteLength })
        if (photo?.isFitting === false)
          throw invalid(
            field,
            `must have the aspect ratio of the uncropped photo, ${photo.width} × ${photo.height}; it has ${width} × ${height} pixels`,
          )
        if (photo !== null) await storage.put(key, bytes, { contentType: 'image/png' })
        return key
      }),

    discard: async (key) => {
      await storage.delete([key]).catch(() => {})
    },
  }
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The request is not valid: ${path} ${message}.`, {
    details: [{ path, message }],
  })
}
