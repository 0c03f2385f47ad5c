import type { PersonPhotos, StoredPhoto } from '../../person-photos.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { ImageFile } from '../../shared/image.ts'
import { compileParser } from '../../shared/schema.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { Images } from '../../shared/stores/images.ts'
import { isShopperOf } from '../../shopper.ts'
import type { AppContext } from '../../state.ts'
import type { Uploads } from '../../stores/uploads.ts'
import { namesOfUpload, type UploadNames } from '../../upload-link.ts'
import { readUpload } from '../../uploaded-file.ts'
import { requesterOf } from './requester.ts'
import { type ShopperPhoto, UploadCompleteBody } from './uploads.schema.ts'

export interface ShopperPhotoOptions {
  readonly uploads: Uploads
  readonly images: Images
  readonly photos: PersonPhotos
  readonly storage: ObjectStorage
}

/** Seconds that a preview link works. */
const PREVIEW_SECONDS = 900

const parseComplete = compileParser(UploadCompleteBody)

/** Makes the bytes of an upload a photo, once: again it gives the same photo. */
export async function postComplete(ctx: AppContext, options: ShopperPhotoOptions): Promise<void> {
  const names = namesOfUpload(parseComplete(ctx.state.body).uploadKey)
  if (names === null) throw unknownUpload()
  const known = await findPhoto(ctx, names, options)
  const photo = known ?? (await storeUpload(ctx, names, options))
  ctx.status = known ? 200 : 201
  ctx.body = await presentPhoto(photo, options)
}

/** Makes the file of a form a photo. */
export async function postImage(ctx: AppContext, options: ShopperPhotoOptions): Promise<void> {
  const { files } = ctx.state
  if (!files.some(({ field }) => field === 'file')) {
    throw new DrapeError('FILE_REQUIRED', 'Send the photo in the multipart field file.')
  }
  const photo = await storePhoto(ctx, () => readUpload('file', files), options)
  ctx.status = 201
  ctx.body = await presentPhoto(photo, options)
}

/** The photo that an upload has become. Throws `UPLOAD_NOT_FOUND` for that of another shop. */
async function findPhoto(
  ctx: AppContext,
  { imageId }: UploadNames,
  { images, storage }: ShopperPhotoOptions,
): Promise<StoredPhoto | null> {
  const image = await images.find(imageId)
  if (image === null) return null
  const isLive = image.expiresAt.getTime() > Date.now()
  if (!isLive || !isShopperOf(requesterOf(ctx).shop.id, image.externalUserId)) throw unknownUpload()
  // Whoever began to store it may have died before its bytes.
  return (await storage.exists(image.objectKey)) ? { ...image, imageId } : null
}

async function storeUpload(ctx: AppContext, names: UploadNames, options: ShopperPhotoOptions): Promise<StoredPhoto> {
  const { uploads, storage } = options
  const isOurs = isShopperOf(requesterOf(ctx).shop.id, await uploads.findOwner(names))
  const bytes = isOurs ? await storage.get(names.objectKey) : null
  if (bytes === null) {
    // The same request may have come twice, and the other one may have ended meanwhile.
    const photo = await findPhoto(ctx, names, options)
    if (photo === null) throw unknownUpload()
    return photo
  }
  const photo = await storePhoto(ctx, bytes, { ...options, imageId: names.imageId })
  // Their row stays for the sweep: the same link may be bringing bytes once more right now.
  await storage
    .delete([names.objectKey])
    .catch((error) => ctx.state.log.warn({ err: error }, 'upload left to the sweep'))
  return photo
}

function storePhoto(
  ctx: AppContext,
  file: ImageFile,
  { photos, imageId }: ShopperPhotoOptions & { imageId?: string },
): Promise<StoredPhoto> {
  const { account, shopperId: externalUserId } = requesterOf(ctx)
  return photos.store(file, { account, externalUserId, keepForDays: null, cropMode: 'auto', imageId })
}

async function presentPhoto(photo: StoredPhoto, { photos, storage }: ShopperPhotoOptions): Promise<ShopperPhoto> {
  const prepared = await photos.prepare(photo)
  const key = prepared?.viewKey ?? photo.objectKey
  return {
    fileId: photo.imageId,
    fileUrl: await storage.signedUrl(key, { expiresInSeconds: PREVIEW_SECONDS }),
    message: 'The photo is ready to try things on.',
  }
}

export function unknownUpload(): DrapeError {
  return new DrapeError('UPLOAD_NOT_FOUND', 'There is no such upload, or not any more. Begin again.')
}
