import type { Consents } from '../../consents/consents.store.ts'
import type { AppContext } from '../../http/state.ts'
import type { PersonPhotos, StoredPhoto } from '../../photos/person-photos.ts'
import type { UploadNames } from '../../photos/upload-link.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { viewKeyOf } from '../../shared/generations/generation.ts'
import type { ImageFile } from '../../shared/image/image.ts'
import type { Images } from '../../shared/image/person-photos.store.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import { requesterOf } from '../../shops/requester.ts'
import { addressShopperId } from '../../shops/shopper.ts'
import { isConsentValid, notAgreed } from './require-consent.ts'
import type { ShopperPhoto } from './uploads.schema.ts'
import type { Uploads } from './uploads.store.ts'

export interface ShopperPhotoOptions {
  readonly uploads: Uploads
  readonly images: Images
  readonly photos: PersonPhotos
  readonly storage: ObjectStorage
  readonly consents: Consents
}

/** Lifetime of a preview link in seconds. */
const PREVIEW_SECONDS = 900

function isOwner(ctx: AppContext, externalUserId: string | null): boolean {
  return externalUserId !== null && requesterOf(ctx).ownerIds.includes(externalUserId)
}

/** Throws `UPLOAD_NOT_FOUND` unless the upload belongs to this shopper. */
export async function assertOwner(
  ctx: AppContext,
  names: UploadNames,
  { uploads }: ShopperPhotoOptions,
): Promise<void> {
  if (!isOwner(ctx, await uploads.findOwner(names))) throw unknownUpload()
}

/** The photo that was made from an upload. Throws `UPLOAD_NOT_FOUND` for an upload of another shopper. */
export async function findPhoto(
  ctx: AppContext,
  { imageId }: UploadNames,
  { images, storage }: ShopperPhotoOptions,
): Promise<StoredPhoto | null> {
  const image = await images.find(imageId)
  if (image === null) return null
  const isLive = image.expiresAt.getTime() > Date.now()
  if (!isLive || !isOwner(ctx, image.externalUserId)) throw unknownUpload()
  // The process that was storing the photo may have died before it stored the bytes.
  return (await storage.exists(image.objectKey)) ? { ...image, imageId } : null
}

/** Throws `CONSENT_REQUIRED` when the shopper has withdrawn their consent while the photo was stored; then it is deleted. */
export async function storePhoto(
  ctx: AppContext,
  file: ImageFile,
  { photos, uploads, consents, imageId, signal }: ShopperPhotoOptions & { imageId?: string; signal?: AbortSignal },
): Promise<StoredPhoto> {
  const requester = requesterOf(ctx)
  const { account, shopperId: externalUserId } = requester
  const addressUserId = addressShopperId(requester.shop.id, ctx.state.shopper)
  const { receivedAt } = ctx.state
  const call = {
    account,
    externalUserId,
    addressUserId,
    receivedAt,
    keepForDays: null,
    cropMode: 'auto',
    imageId,
    signal,
  } as const
  const photo = await photos.store(file, call).catch(async (error) => {
    // A withdrawal erases, so the photo may be refused as that of an erased shopper.
    if (await isConsentValid(requester, { consents })) throw error
    throw notAgreed()
  })
  if (await isConsentValid(requester, { consents })) return photo
  await photos.discard(photo.imageId)
  await uploads.disown(photo.objectKey)
  throw notAgreed()
}

/** Presents a link to the cropped view; reuses a view that a worker has stored. */
export async function presentPhoto(
  photo: StoredPhoto,
  { photos, storage }: ShopperPhotoOptions,
): Promise<ShopperPhoto> {
  const viewKey = viewKeyOf(photo.objectKey)
  const key = (await storage.exists(viewKey)) ? viewKey : (await photos.prepare(photo))?.viewKey
  return {
    fileId: photo.imageId,
    fileUrl: await storage.signedUrl(key ?? photo.objectKey, { expiresInSeconds: PREVIEW_SECONDS }),
    ...(key === undefined && { cropPending: true as const }),
    message: key === undefined ? 'The photo is stored. It is cropped at the first try-on.' : 'The photo is ready.',
  }
}

export function unknownUpload(): DrapeError {
  return new DrapeError('UPLOAD_NOT_FOUND', 'The upload does not exist or has expired. Start again.')
}
