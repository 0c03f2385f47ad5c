import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { hangUpOf } from '../../answers/hang-up.ts'
import type { DiskBudget } from '../../bodies/disk-budget.ts'
import { receiveFile } from '../../bodies/received-file.ts'
import { readUpload } from '../../bodies/uploaded-file.ts'
import type { ReserveStorage } from '../../limits/storage-quota.ts'
import { MAX_FILE_BYTES } from '../../middleware/body.ts'
import { addressLimit, type Budgets, shopperOf, storefrontLimit } from '../../middleware/storefront-limit.ts'
import { createUploadKey, isUploadLink, namesOfUpload, signUploadLink } from '../../photos/upload-link.ts'
import { DrapeError, type ErrorCode } from '../../shared/errors.ts'
import { inField } from '../../shared/image-field.ts'
import type { Objects } from '../../shared/stores/objects.ts'
import { hashAddress } from '../../shoppers/shopper.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Consents } from '../../stores/consents.ts'
import type { UploadNames } from '../../stores/uploads.ts'
import { type Guards, route } from '../route.ts'
import type { BudgetedGuards, ParsingGuards } from './behind-proxy.ts'
import type { CompleteUpload } from './complete-upload.ts'
import { requesterOf } from './requester.ts'
import { notAgreed, requireConsent, stillAgrees } from './require-consent.ts'
import { presentPhoto, type ShopperPhotoOptions, storePhoto, unknownUpload } from './shopper-photos.ts'
import {
  PreparedUpload,
  ReceivedUpload,
  ShopperPhoto,
  ShopperUploadFields,
  UploadCompleteBody,
  UploadLinkQuery,
} from './uploads.schema.ts'

export interface ShopperUploadParts extends ShopperPhotoOptions {
  readonly completeUpload: CompleteUpload
  readonly objects: Objects
  readonly reserveStorage: ReserveStorage
  /** Bytes of uploads by link on disk, by network address. */
  readonly shopperDisk: DiskBudget
  /** Runs work with an empty folder of its own. */
  readonly withFolder: <T>(work: (folder: string) => Promise<T>) => Promise<T>
  readonly publicUrl: string
  readonly signingSecret: string
}

interface PreparingGuards extends BudgetedGuards {
  readonly consents: Consents
}

interface StoringGuards extends ParsingGuards {
  readonly consents: Consents
}

interface LinkGuards {
  readonly budgets: Budgets
  readonly signingSecret: string
}

const LINK_MS = 15 * 60_000
/** From the link on, for the bytes to arrive and to be made a photo; a sweep takes what is left after that. */
const KEPT_MS = 2 * LINK_MS
const ARRIVAL_MS = 60_000

const tag = 'Storefront'
const badPhoto: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'INVALID_IMAGE',
  'UNSUPPORTED_IMAGE_TYPE',
  'FILE_TOO_LARGE',
  'QUOTA_EXCEEDED',
]

export const shopperUploadRoutes = [
  route({
    method: 'post',
    path: '/public/prepare-upload',
    id: 'prepareShopperUpload',
    tag,
    summary: 'Get a link to send a photo to',
    description: `Send nothing. Then \`PUT\` the bytes of the photo to \`uploadUrl\` and call upload-complete. A shopper may begin 10
uploads in 5 minutes, those of upload-image among them.`,
    access: 'shop',
    answers: {
      200: { description: 'The link.', schema: PreparedUpload, next: { completeShopperUpload: {} } },
    },
    errors: ['CONSENT_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'QUOTA_EXCEEDED'],
    guards: ({ fromShop, budgets, consents }: PreparingGuards) => [
      fromShop,
      ...uploadLimits(budgets),
      requireConsent(consents),
    ],
    handler: postPrepare,
  }),
  route({
    method: 'put',
    path: '/public/uploads/{uploadKey}',
    id: 'putShopperUpload',
    tag,
    summary: 'Send the bytes of a photo',
    description: `To the \`uploadUrl\` of prepare-upload as it is: only the link is needed. Sent again, up to 10 times
in 5 minutes, the bytes take the place of those before, until the upload is complete. What never is complete is deleted within the
hour.`,
    access: 'open',
    parameters: { uploadKey: 'As prepare-upload gave it.' },
    query: UploadLinkQuery,
    ownCheck: 'query',
    body: { bytes: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB, whatever its Content-Type says.' },
    answers: { 200: { description: 'Received.', schema: ReceivedUpload } },
    errors: [
      'FORBIDDEN',
      'VALIDATION_FAILED',
      'FILE_TOO_LARGE',
      'UPLOAD_NOT_FOUND',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ],
    guards: ({ budgets: { perFiveMinutes }, signingSecret }: LinkGuards) => [
      requireLink(signingSecret),
      storefrontLimit(perFiveMinutes('upload-link', 10), ({ params }) => params.uploadKey),
    ],
    handler: putBytes,
  }),
  route({
    method: 'post',
    path: '/public/upload-complete',
    id: 'completeShopperUpload',
    tag,
    summary: 'Make the bytes that were sent a photo',
    description: `Repeated after success the request gets the same photo. Bytes that are refused as no image are deleted: send other bytes to
the same link. A shopper may send 20 requests in 5 minutes.`,
    access: 'shop',
    body: { json: UploadCompleteBody },
    answers: {
      201: { description: 'Stored.', schema: ShopperPhoto },
      200: { description: 'It was complete already: the same photo again.', schema: ShopperPhoto },
    },
    errors: [...badPhoto, 'CONSENT_REQUIRED', 'UPLOAD_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ fromShop, budgets: { perFiveMinutes }, parse, consents }: StoringGuards) => [
      fromShop,
      // Twice the uploads: browsers repeat a completion whose answer was lost.
      addressLimit(perFiveMinutes, 'upload-complete-address', 120),
      storefrontLimit(perFiveMinutes('upload-complete', 20), shopperOf),
      requireConsent(consents),
      parse,
    ],
    handler: postComplete,
  }),
  route({
    method: 'post',
    path: '/public/upload-image',
    id: 'uploadShopperImage',
    tag,
    summary: 'Send a photo through the proxy of the shop',
    description: 'For plugins, whose proxies let files through. Counted with prepare-upload.',
    access: 'shop',
    body: {
      form: ShopperUploadFields,
      files: { file: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB.' },
    },
    answers: { 201: { description: 'Stored.', schema: ShopperPhoto } },
    errors: [...badPhoto, 'CONSENT_REQUIRED', 'FILE_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
    guards: ({ fromShop, budgets, parse, consents }: StoringGuards) => [
      fromShop,
      ...uploadLimits(budgets),
      requireConsent(consents),
      parse,
    ],
    handler: postImage,
  }),
]

/** What prepare-upload and upload-image spend together. */
function uploadLimits({ perFiveMinutes }: Budgets): Guards {
  return [addressLimit(perFiveMinutes, 'upload-address', 60), storefrontLimit(perFiveMinutes('upload', 10), shopperOf)]
}

async function postPrepare(ctx: AppContext, options: ShopperUploadParts): Promise<PreparedUpload> {
  const { objects, publicUrl, signingSecret: secret } = options
  const requester = requesterOf(ctx)
  const { account, shopperId } = requester
  // Room for the bytes that the link allows.
  await options.reserveStorage(account, MAX_FILE_BYTES)
  const uploadKey = createUploadKey()
  const key = assertNames(uploadKey).objectKey
  await objects.insert({
    key,
    accountId: account.id,
    externalUserId: shopperId,
    kind: 'upload',
    bytes: null,
    expiresAt: new Date(Date.now() + KEPT_MS),
  })
  if (!(await stillAgrees(requester, options))) {
    await objects.delete(key)
    throw notAgreed()
  }
  const query = signUploadLink({ uploadKey, secret, expiresAt: Date.now() + LINK_MS })
  ctx.set('Cache-Control', 'no-store')
  return {
    uploadUrl: `${publicUrl.replace(/\/+$/, '')}/public/uploads/${uploadKey}?${query}`,
    uploadKey,
  }
}

function requireLink(secret: string): Middleware<AppState> {
  return function check(ctx, next) {
    const { uploadKey } = ctx.params
    const query = new URLSearchParams(ctx.querystring)
    if (!isUploadLink({ uploadKey, secret, query, now: Date.now() })) {
      throw new DrapeError('FORBIDDEN', 'The link is not valid or has expired.')
    }
    return next()
  }
}

async function putBytes(
  ctx: AppContext,
  { uploads, storage, withFolder, shopperDisk, signingSecret }: ShopperUploadParts,
  { params: { uploadKey } }: { readonly params: { readonly uploadKey: string } },
): Promise<ReceivedUpload> {
  const names = assertNames(uploadKey)
  const share = shopperDisk(hashAddress(ctx.ip, signingSecret))
  await withFolder(async (folder) => {
    // Nothing reaches the storage before all of it is here.
    const path = join(folder, 'photo')
    await receiveFile(ctx.req, path, { maxBytes: MAX_FILE_BYTES, maxMs: ARRIVAL_MS, onBytes: share.add })
    const photo = await readFile(path)
    if (!(await uploads.receive(names, photo.byteLength))) throw unknownUpload()
    await storage.put(names.objectKey, photo, { contentType: 'application/octet-stream' })
  }).finally(share.release)
  return { uploadKey }
}

async function postComplete(
  ctx: AppContext,
  { completeUpload }: ShopperUploadParts,
  { body }: { readonly body: UploadCompleteBody },
): Promise<ShopperPhoto> {
  const { photo, isNew } = await completeUpload(ctx, body.uploadKey)
  ctx.status = isNew ? 201 : 200
  return photo
}

async function postImage(ctx: AppContext, options: ShopperUploadParts): Promise<ShopperPhoto> {
  const { files } = ctx.state
  const storing = storePhoto(ctx, () => readUpload('file', files), { ...options, signal: hangUpOf(ctx) })
  return presentPhoto(await inField('file', storing), options)
}

function assertNames(uploadKey: string): UploadNames {
  const names = namesOfUpload(uploadKey)
  if (names === null) throw unknownUpload()
  return names
}
