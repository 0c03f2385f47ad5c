import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import type { Accounts } from '../../accounts/accounts.store.ts'
import type { Consents } from '../../consents/consents.store.ts'
import { disconnectSignal } from '../../http/answers/disconnect-signal.ts'
import type { DiskBudget } from '../../http/bodies/disk-budget.ts'
import { receiveFile } from '../../http/bodies/received-file.ts'
import { readUpload } from '../../http/bodies/uploaded-file.ts'
import type { AssertFewIncomplete } from '../../http/limits/incomplete-uploads.ts'
import { MAX_FILE_BYTES } from '../../http/middleware/body.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import type { ReserveStorage } from '../../photos/storage-quota.ts'
import {
  createUploadKey,
  isUploadLink,
  namesOfUpload,
  signUploadLink,
  type UploadNames,
} from '../../photos/upload-link.ts'
import { DrapeError, type ErrorCode } from '../../shared/contract/errors.ts'
import { inField } from '../../shared/image/image-field.ts'
import { readImageFormat } from '../../shared/image/image-format.ts'
import type { Objects } from '../../shared/storage/objects.store.ts'
import type { BudgetedGuards, ParsingGuards } from '../../shops/behind-proxy.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { requesterOf, requireIdentity } from '../../shops/requester.ts'
import { hashAddress } from '../../shops/shopper.ts'
import type { CompleteUpload } from './complete-upload.ts'
import { isConsentValid, notAgreed, requireConsent } from './require-consent.ts'
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
  readonly assertFewIncomplete: AssertFewIncomplete
  readonly objects: Objects
  readonly reserveStorage: ReserveStorage
  readonly accounts: Pick<Accounts, 'find'>
  /** Disk budget for uploads by link, by network address. */
  readonly shopperDisk: DiskBudget
  /** Runs work with its own empty folder. */
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
/**
 * Lifetime of an upload from the creation of its link, for the bytes to arrive and to become a photo; a sweep deletes
 * it afterwards.
 */
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
    summary: 'Create an upload link for a photo',
    description: `Send an empty body. Then \`PUT\` the bytes of the photo to \`uploadUrl\` and call upload-complete. ${describeBudget('upload')}
Uploads of upload-image count too.`,
    access: 'shop',
    answers: {
      200: { description: 'The link.', schema: PreparedUpload, next: { completeShopperUpload: {} } },
    },
    errors: ['VALIDATION_FAILED', 'CONSENT_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'QUOTA_EXCEEDED'],
    guards: ({ fromShop, budgets, consents }: PreparingGuards) => [
      fromShop,
      requireIdentity,
      budgets.limit('upload'),
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
    description: `Send to the unchanged \`uploadUrl\` of prepare-upload, without credentials. Until the upload is complete, the
bytes can be replaced up to 10 times in 5 minutes; a network address may send 120 times, and have 100 MB in incomplete uploads.
They are deleted within 1 hour.`,
    access: 'open',
    parameters: { uploadKey: 'As returned by prepare-upload.' },
    query: UploadLinkQuery,
    ownCheck: 'query',
    body: { bytes: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB, regardless of its Content-Type.' },
    answers: { 200: { description: 'Received.', schema: ReceivedUpload } },
    errors: [
      'FORBIDDEN',
      'VALIDATION_FAILED',
      'INVALID_IMAGE',
      'UNSUPPORTED_IMAGE_TYPE',
      'FILE_TOO_LARGE',
      'UPLOAD_NOT_FOUND',
      'QUOTA_EXCEEDED',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ],
    guards: ({ budgets, signingSecret }: LinkGuards) => [
      requireLink(signingSecret),
      budgets.limit('upload-link', ({ params }) => params.uploadKey),
    ],
    handler: putBytes,
  }),
  route({
    method: 'post',
    path: '/public/upload-complete',
    id: 'completeShopperUpload',
    tag,
    summary: 'Complete the upload of a photo',
    description: `Idempotent: after success, returns the same photo. Bytes that are a damaged image are deleted: send other bytes to the
same link. ${describeBudget('upload-complete')}`,
    access: 'shop',
    body: { json: UploadCompleteBody },
    answers: {
      201: { description: 'Stored.', schema: ShopperPhoto },
      200: { description: 'The upload was already complete: the same photo.', schema: ShopperPhoto },
    },
    errors: [...badPhoto, 'CONSENT_REQUIRED', 'UPLOAD_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ fromShop, budgets, parse, consents }: StoringGuards) => [
      fromShop,
      budgets.limit('upload-complete'),
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
    description: 'For plugins, whose proxies forward files. Shares the limit of prepare-upload.',
    access: 'shop',
    body: {
      form: ShopperUploadFields,
      files: { file: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB.' },
    },
    answers: { 201: { description: 'Stored.', schema: ShopperPhoto } },
    errors: [...badPhoto, 'CONSENT_REQUIRED', 'FILE_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
    guards: ({ fromShop, budgets, parse, consents }: StoringGuards) => [
      fromShop,
      requireIdentity,
      budgets.limit('upload'),
      requireConsent(consents),
      parse,
    ],
    handler: postImage,
  }),
]

async function postPrepare(ctx: AppContext, options: ShopperUploadParts): Promise<PreparedUpload> {
  const { objects, publicUrl, signingSecret: secret } = options
  const requester = requesterOf(ctx)
  const { account, shopperId } = requester
  // Refuses a full account before a photo is sent. The bytes reserve the rest: unused links must not use up the quota.
  await options.reserveStorage(account, 1, async () => {})
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
  if (!(await isConsentValid(requester, options))) {
    await objects.delete(key)
    throw notAgreed()
  }
  const query = signUploadLink({ uploadKey, secret, expiresAt: Date.now() + LINK_MS })
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
  { uploads, accounts, storage, withFolder, shopperDisk, signingSecret, ...limits }: ShopperUploadParts,
  { params: { uploadKey } }: { readonly params: { readonly uploadKey: string } },
): Promise<ReceivedUpload> {
  const names = assertNames(uploadKey)
  const address = hashAddress(ctx.ip, signingSecret)
  const share = shopperDisk(address)
  await withFolder(async (folder) => {
    // Nothing is stored before all bytes have arrived.
    const path = join(folder, 'photo')
    await receiveFile(ctx.req, path, { maxBytes: MAX_FILE_BYTES, maxMs: ARRIVAL_MS, onBytes: share.add })
    const photo = await readFile(path)
    readImageFormat(photo)
    const upload = await uploads.find(names)
    const account = upload && (await accounts.find(upload.accountId))
    if (upload === null || account === null) throw unknownUpload()
    const { objectKey } = names
    await limits.assertFewIncomplete({ address, objectKey, bytes: photo.byteLength })
    await limits.reserveStorage(account, Math.max(0, photo.byteLength - upload.bytes), async () => {
      if (!(await uploads.receive(names, photo.byteLength))) throw unknownUpload()
      try {
        await storage.put(objectKey, photo, { contentType: 'application/octet-stream' })
      } catch (error) {
        await uploads.empty(names)
        throw error
      }
    })
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
  const storing = storePhoto(ctx, () => readUpload('file', files), { ...options, signal: disconnectSignal(ctx) })
  return presentPhoto(await inField('file', storing), options)
}

function assertNames(uploadKey: string): UploadNames {
  const names = namesOfUpload(uploadKey)
  if (names === null) throw unknownUpload()
  return names
}
