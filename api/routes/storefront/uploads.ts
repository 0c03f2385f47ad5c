import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { DiskBudget } from '../../bodies/disk-budget.ts'
import { receiveFile } from '../../bodies/received-file.ts'
import type { ReserveStorage } from '../../limits/storage-quota.ts'
import { MAX_FILE_BYTES } from '../../middleware/body.ts'
import {
  createUploadKey,
  isUploadLink,
  namesOfUpload,
  signUploadLink,
  type UploadNames,
} from '../../photos/upload-link.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { Objects } from '../../shared/stores/objects.ts'
import { hashAddress } from '../../shops/shopper.ts'
import type { AppContext, AppState } from '../../state.ts'
import { createUploadCompletion } from './complete-upload.ts'
import { requesterOf } from './requester.ts'
import { postImage, type ShopperPhotoOptions, unknownUpload } from './shopper-photos.ts'
import type { PreparedUpload } from './uploads.schema.ts'

export interface ShopperUploadOptions extends ShopperPhotoOptions {
  /** Of a request that a shop's proxy has signed. */
  readonly guards: readonly Middleware<AppState>[]
  /** The budget of a shopper's uploads. */
  readonly limits?: readonly Middleware<AppState>[]
  /** The budget of a shopper's completions. */
  readonly completionLimits?: readonly Middleware<AppState>[]
  readonly parsers?: readonly Middleware<AppState>[]
  /** The budget of one link. */
  readonly linkLimits?: readonly Middleware<AppState>[]
  readonly objects: Objects
  readonly reserveStorage: ReserveStorage
  /** Bytes of uploads by link on disk, by network address. */
  readonly disk: DiskBudget
  /** Runs work with an empty folder of its own. */
  readonly withFolder: <T>(work: (folder: string) => Promise<T>) => Promise<T>
  readonly publicUrl: string
  readonly signingSecret: string
}

const LINK_MS = 15 * 60_000
/** From the link on, for the bytes to arrive and to be made a photo; a sweep takes what is left after that. */
const KEPT_MS = 2 * LINK_MS
const ARRIVAL_MS = 60_000

/** POST /public/prepare-upload, PUT /public/uploads/:uploadKey, POST /public/upload-complete, POST /public/upload-image */
export function shopperUploadRoutes(options: ShopperUploadOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public', sensitive: true })
  const [guards, limits = [], parsers = []] = [options.guards, options.limits, options.parsers] as never[][]
  const completionLimits = (options.completionLimits ?? []) as never[]
  const byLink = [requireLink(options), ...(options.linkLimits ?? [])] as never[]
  router.post('/prepare-upload', ...guards, ...limits, (ctx: AppContext) => postPrepare(ctx, options))
  router.put('/uploads/:uploadKey', ...byLink, (ctx: AppContext) => putBytes(ctx, options))
  router.post('/upload-complete', ...guards, ...completionLimits, ...parsers, createUploadCompletion(options) as never)
  router.post('/upload-image', ...guards, ...limits, ...parsers, (ctx: AppContext) => postImage(ctx, options))
  return router
}

async function postPrepare(ctx: AppContext, options: ShopperUploadOptions): Promise<void> {
  const { objects, publicUrl, signingSecret: secret } = options
  const { account, shopperId } = requesterOf(ctx)
  // Room for the bytes that the link allows.
  await options.reserveStorage(account, MAX_FILE_BYTES)
  const uploadKey = createUploadKey()
  await objects.insert({
    key: assertNames(uploadKey).objectKey,
    accountId: account.id,
    externalUserId: shopperId,
    kind: 'upload',
    bytes: null,
    expiresAt: new Date(Date.now() + KEPT_MS),
  })
  const query = signUploadLink({ uploadKey, secret, expiresAt: Date.now() + LINK_MS })
  ctx.set('Cache-Control', 'no-store')
  ctx.body = {
    uploadUrl: `${publicUrl.replace(/\/+$/, '')}/public/uploads/${uploadKey}?${query}`,
    uploadKey,
  } satisfies PreparedUpload
}

function requireLink({ signingSecret: secret }: ShopperUploadOptions): Middleware<AppState> {
  return function check(ctx, next) {
    const { uploadKey } = (ctx as AppContext).params
    const query = new URLSearchParams(ctx.querystring)
    if (!isUploadLink({ uploadKey, secret, query, now: Date.now() })) {
      throw new DrapeError('FORBIDDEN', 'The link is not valid or has expired.')
    }
    return next()
  }
}

async function putBytes(ctx: AppContext, options: ShopperUploadOptions): Promise<void> {
  const { uploads, storage, withFolder, disk, signingSecret } = options
  const { uploadKey } = ctx.params
  const names = assertNames(uploadKey)
  const share = disk(hashAddress(ctx.ip, signingSecret))
  await withFolder(async (folder) => {
    // Nothing reaches the storage before all of it is here.
    const path = join(folder, 'photo')
    await receiveFile(ctx.req, path, { maxBytes: MAX_FILE_BYTES, maxMs: ARRIVAL_MS, onBytes: share.add })
    const photo = await readFile(path)
    if (!(await uploads.receive(names, photo.byteLength))) throw unknownUpload()
    await storage.put(names.objectKey, photo, { contentType: 'application/octet-stream' })
  }).finally(share.release)
  ctx.body = { uploadKey }
}

function assertNames(uploadKey: string): UploadNames {
  const names = namesOfUpload(uploadKey)
  if (names === null) throw unknownUpload()
  return names
}
