import { setTimeout as sleep } from 'node:timers/promises'
import type { AppContext } from '../../http/state.ts'
import type { StoredPhoto } from '../../photos/person-photos.ts'
import { namesOfUpload, type UploadNames } from '../../photos/upload-link.ts'
import { DrapeError, type ErrorCode } from '../../shared/contract/errors.ts'
import { inField } from '../../shared/image/image-field.ts'
import {
  assertOwner,
  findPhoto,
  presentPhoto,
  type ShopperPhotoOptions,
  storePhoto,
  unknownUpload,
} from './shopper-photos.ts'
import type { ShopperPhoto } from './uploads.schema.ts'

interface MadePhoto {
  readonly photo: StoredPhoto
  readonly isNew: boolean
}

interface Completion {
  readonly photo: ShopperPhoto
  readonly isNew: boolean
}

const POLL_MS = 500
/** Maximum wait for another replica that is processing the same upload. */
const MAX_WAIT_MS = 30_000

const REFUSALS: readonly ErrorCode[] = ['INVALID_IMAGE', 'UNSUPPORTED_IMAGE_TYPE', 'FILE_TOO_LARGE']

/**
 * Turns the bytes of an upload into a photo, once: concurrent requests for the same upload share the work, and a
 * repeated request gets the stored photo.
 */
export type CompleteUpload = (ctx: AppContext, uploadKey: string) => Promise<Completion>

export function createUploadCompletion(options: ShopperPhotoOptions): CompleteUpload {
  const inProgress = new Map<string, Promise<Completion>>()

  async function complete(ctx: AppContext, names: UploadNames, known: StoredPhoto | null): Promise<Completion> {
    const { photo, isNew } = known ? { photo: known, isNew: false } : await storeUpload(ctx, names, options)
    return { photo: await presentPhoto(photo, options), isNew }
  }

  return async function completeUpload(ctx, uploadKey) {
    const names = namesOfUpload(uploadKey)
    if (names === null) throw unknownUpload()
    // Check the owner before sharing work: another shopper must not get the photo.
    const known = await findPhoto(ctx, names, options)
    if (known === null) await assertOwner(ctx, names, options)
    const shared = inProgress.get(names.imageId)
    const completing = shared ?? complete(ctx, names, known).finally(() => inProgress.delete(names.imageId))
    if (!shared) inProgress.set(names.imageId, completing)
    const { photo, isNew } = await completing
    return { photo, isNew: isNew && !shared }
  }
}

/** The photo, and whether this request stored it. */
async function storeUpload(ctx: AppContext, names: UploadNames, options: ShopperPhotoOptions): Promise<MadePhoto> {
  const made = await claimUpload(ctx, names, options)
  if (made !== null) return { photo: made, isNew: false }
  const { uploads, storage } = options
  const readBytes = async () => {
    const bytes = await storage.get(names.objectKey)
    if (bytes === null) throw unknownUpload()
    return bytes
  }
  try {
    // Read in its turn: the files of waiting uploads would fill the memory.
    const photo = await inField('uploadKey', storePhoto(ctx, readBytes, { ...options, imageId: names.imageId }))
    await deleteBytes(ctx, names, options)
    return { photo, isNew: true }
  } catch (error) {
    // Otherwise repeated requests would decode the same bytes again.
    if (isRefusal(error)) await deleteBytes(ctx, names, options)
    throw error
  } finally {
    await uploads.release(names)
  }
}

/** Null when this replica has claimed the upload; the photo when another replica has stored it. */
async function claimUpload(
  ctx: AppContext,
  names: UploadNames,
  options: ShopperPhotoOptions,
): Promise<StoredPhoto | null> {
  const startedAt = performance.now()
  while (!(await options.uploads.claim(names))) {
    const photo = await findPhoto(ctx, names, options)
    if (photo !== null) return photo
    await assertOwner(ctx, names, options)
    if (performance.now() - startedAt > MAX_WAIT_MS) {
      throw new DrapeError('SERVICE_UNAVAILABLE', 'The photo is still being processed. Send the request again.', {
        retryable: true,
      })
    }
    await sleep(POLL_MS)
  }
  // Another replica may have stored the photo just before the claim.
  const photo = await findPhoto(ctx, names, options)
  if (photo !== null) await options.uploads.release(names)
  return photo
}

/** Keeps the row of the upload for the sweep: the same link may be receiving bytes again. */
async function deleteBytes(ctx: AppContext, names: UploadNames, { storage, uploads }: ShopperPhotoOptions) {
  await storage
    .delete([names.objectKey])
    .then(() => uploads.empty(names))
    .catch((error) => ctx.state.log.warn({ err: error }, 'upload is left for the sweep to delete'))
}

/** Whether the bytes themselves were rejected, so that a retry would fail as well. */
function isRefusal(error: unknown): boolean {
  return error instanceof DrapeError && REFUSALS.includes(error.code)
}
