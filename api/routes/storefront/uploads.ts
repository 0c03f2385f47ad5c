import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { MAX_FILE_BYTES } from '../../middleware/body.ts'
import type { PersonPhotos, StoredPhoto } from '../../person-photos.ts'
import { receiveFile } from '../../received-file.ts'
import { DrapeError } from '../../shared/errors.ts'
import { compileParser } from '../../shared/schema.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { Images } from '../../shared/stores/images.ts'
import type { Objects } from '../../shared/stores/objects.ts'
import { isShopperOf } from '../../shopper.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Uploads } from '../../stores/uploads.ts'
import { isUploadLink, signUploadLink } from '../../upload-link.ts'
import { readUpload } from '../../uploaded-file.ts'
import { requesterOf } from './requester.ts'
import { type PreparedUpload, type ShopperPhoto, UploadCompleteBody } from './uploads.schema.ts'

export interface ShopperUploadOptions {
  /** Of a request that a shop's proxy has signed. */
  readonly guards: readonly Middleware<AppState>[]
  /** The budget of a shopper's uploads. */
  readonly limits?: readonly Middleware<AppState>[]
  readonly parsers?: readonly Middleware<AppState>[]
  /** The budget of one link. */
  readonly linkLimits?: readonly Middleware<AppState>[]
  readonly objects: Objects
  readonly uploads: Uploads
  readonly images: Images
  readonly photos: PersonPhotos
  readonly storage: ObjectStorage
  /** Runs work with an empty folder of its own. */
  readonly withFolder: <T>(work: (folder: string) => Promise<T>) => Promise<T>
  readonly publicUrl: string
  readonly signingSecret: string
  /** How long the bytes of a photo may take to arrive. */
  readonly maxMs?: number
  readonly now?: () => number
}

const LINK_MS = 15 * 60_000
/** From the link on, for the bytes to arrive and to be made a photo; a sweep takes what is left after that. */
const KEPT_MS = 2 * LINK_MS
const ARRIVAL_MS = 60_000
/** Seconds that a preview link works. */
const PREVIEW_SECONDS = 900

const parseComplete = compileParser(UploadCompleteBody)

/** POST /public/prepare-upload, PUT /public/uploads/:uploadKey, POST /public/upload-complete, POST /public/upload-image */
export function shopperUploadRoutes(options: ShopperUploadOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public' })
  const [guards, limits = [], parsers = []] = [options.guards, options.limits, options.parsers] as never[][]
  const byLink = [requireLink(options), ...(options.linkLimits ?? [])] as never[]
  router.post('/prepare-upload', ...guards, ...limits, (ctx: AppContext) => postPrepare(ctx, options))
  router.put('/uploads/:uploadKey', ...byLink, (ctx: AppContext) => putBytes(ctx, options))
  router.post('/upload-complete', ...guards, ...parsers, (ctx: AppContext) => postComplete(ctx, options))
  router.post('/upload-image', ...guards, ...limits, ...parsers, (ctx: AppContext) => postImage(ctx, options))
  return router
}

async function postPrepare(ctx: AppContext, options: ShopperUploadOptions): Promise<void> {
  const { objects, publicUrl, signingSecret: secret, now = Date.now } = options
  const { account, shopperId } = requesterOf(ctx)
  const uploadKey = `upl_${uuidv7()}`
  await objects.insert({
    key: namesOf(uploadKey).objectKey,
    accountId: account.id,
    externalUserId: shopperId,
    kind: 'upload',
    expiresAt: new Date(now() + KEPT_MS),
  })
  const query = signUploadLink({ uploadKey, secret, expiresAt: now() + LINK_MS })
  ctx.set('Cache-Control', 'no-store')
  ctx.body = {
    uploadUrl: `${publicUrl.replace(/\/+$/, '')}/public/uploads/${uploadKey}?${query}`,
    uploadKey,
  } satisfies PreparedUpload
}

function requireLink({ signingSecret: secret, now = Date.now }: ShopperUploadOptions): Middleware<AppState> {
  return function check(ctx, next) {
    const { uploadKey } = (ctx as AppContext).params
    const query = new URLSearchParams(ctx.querystring)
    if (!isUploadLink({ uploadKey, secret, query, now: now() })) {
      throw new DrapeError('FORBIDDEN', 'The link is not valid or has expired.')
    }
    return next()
  }
}

async function putBytes(ctx: AppContext, options: ShopperUploadOptions): Promise<void> {
  const { uploads, storage, withFolder, maxMs = ARRIVAL_MS } = options
  const { uploadKey } = ctx.params
  const names = namesOf(uploadKey)
  await withFolder(async (folder) => {
    const path = join(folder, 'photo')
    await receiveFile(ctx.req, path, { maxBytes: MAX_FILE_BYTES, maxMs })
    if (!(await uploads.receive(names))) throw unknownUpload()
    await storage.put(names.objectKey, await readFile(path), { contentType: 'application/octet-stream' })
  })
  ctx.body = { uploadKey }
}

async function postComplete(ctx: AppContext, options: ShopperUploadOptions): Promise<void> {
  const { uploadKey } = parseComplete(ctx.state.body)
  if (!UPLOAD_KEY.test(uploadKey)) throw unknownUpload()
  const names = namesOf(uploadKey)
  const known = await findPhoto(ctx, names, options)
  const photo = known ?? (await storeUpload(ctx, names, options))
  ctx.status = known ? 200 : 201
  ctx.body = await presentPhoto(photo, options)
}

/** The photo that an upload has become, told to the shop of whoever sent it. */
async function findPhoto(
  ctx: AppContext,
  { imageId }: UploadNames,
  { images }: ShopperUploadOptions,
): Promise<StoredPhoto | null> {
  const image = await images.find(imageId)
  if (image === null) return null
  const isLive = image.expiresAt.getTime() > Date.now()
  if (!isLive || !isShopperOf(requesterOf(ctx).shop.id, image.externalUserId)) throw unknownUpload()
  return { ...image, imageId }
}

async function storeUpload(ctx: AppContext, names: UploadNames, options: ShopperUploadOptions): Promise<StoredPhoto> {
  const { uploads, storage, photos } = options
  const { shop, account, shopperId } = requesterOf(ctx)
  const upload = await uploads.find(names)
  const bytes = isShopperOf(shop.id, upload?.externalUserId ?? null) ? await storage.get(names.objectKey) : null
  if (bytes === null) {
    // The same request may have come twice, and the other one may have ended meanwhile.
    const photo = await findPhoto(ctx, names, options)
    if (photo === null) throw unknownUpload()
    return photo
  }
  const photo = await photos.store(bytes, {
    account,
    externalUserId: shopperId,
    keepForDays: null,
    cropMode: 'auto',
    imageId: names.imageId,
  })
  // Their row stays for the sweep: the same link may be bringing bytes once more right now.
  await storage
    .delete([names.objectKey])
    .catch((error) => ctx.state.log.warn({ err: error }, 'upload left to the sweep'))
  return photo
}

async function postImage(ctx: AppContext, options: ShopperUploadOptions): Promise<void> {
  const { files } = ctx.state
  if (!files.some(({ field }) => field === 'file')) {
    throw new DrapeError('FILE_REQUIRED', 'Send the photo in the multipart field file.')
  }
  const { account, shopperId: externalUserId } = requesterOf(ctx)
  const bytes = await readUpload('file', files)
  const photo = await options.photos.store(bytes, { account, externalUserId, keepForDays: null, cropMode: 'auto' })
  ctx.status = 201
  ctx.body = await presentPhoto(photo, options)
}

async function presentPhoto(photo: StoredPhoto, { photos, storage }: ShopperUploadOptions): Promise<ShopperPhoto> {
  const prepared = await photos.prepare(photo)
  const key = prepared?.viewKey ?? photo.objectKey
  return {
    fileId: photo.imageId,
    fileUrl: await storage.signedUrl(key, { expiresInSeconds: PREVIEW_SECONDS }),
    message: 'The photo is ready to try things on.',
  }
}

interface UploadNames {
  readonly objectKey: string
  readonly imageId: string
}

const UPLOAD_KEY = /^upl_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** All that one link can ever make: one object, and one image. */
function namesOf(uploadKey: string): UploadNames {
  const id = uploadKey.slice('upl_'.length)
  return { objectKey: `uploads/${id}.bin`, imageId: `img_${id}` }
}

function unknownUpload(): DrapeError {
  return new DrapeError('UPLOAD_NOT_FOUND', 'There is no such upload, or not any more. Begin again.')
}
