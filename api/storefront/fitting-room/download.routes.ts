import { buffer } from 'node:stream/consumers'
import { sendImage } from '../../http/answers/image-body.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { attachment } from '../../shared/storage/attachment.ts'
import { contentTypeOf, type ObjectStorage } from '../../shared/storage/object.ts'
import type { Objects } from '../../shared/storage/objects.store.ts'
import type { BudgetedGuards } from '../../shops/behind-proxy.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { type Requester, requesterOf } from '../../shops/requester.ts'
import { isShopperOf } from '../../shops/shopper.ts'
import { DownloadQuery } from './download.schema.ts'
import { downloadName } from './download-name.ts'

export interface DownloadParts {
  readonly objects: Objects
  readonly storage: ObjectStorage
  readonly serviceName: string
}

const IMAGE = Type.Unsafe<Buffer>({ type: 'string', format: 'binary' })

export const downloadRoutes = [
  route({
    method: 'get',
    path: '/public/download-image',
    id: 'downloadImage',
    tag: 'Storefront',
    summary: 'Download an image as a file',
    description: `For pages in an iframe, where browsers do not download images of another origin. ${describeBudget('download')}`,
    query: DownloadQuery,
    access: 'shop',
    answers: {
      200: {
        description: 'The image: JPEG, PNG or WebP. Content-Disposition contains the file name.',
        schema: IMAGE,
        contentType: 'image/*',
      },
      206: { description: 'The bytes in Range.', schema: IMAGE, contentType: 'image/*' },
      416: { description: 'Range starts behind the end of the image.' },
    },
    errors: ['VALIDATION_FAILED', 'FORBIDDEN', 'IMAGE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED'],
    guards: ({ fromShop, budgets }: BudgetedGuards) => [fromShop, budgets.limit('download')],
    handler: getImage,
  }),
]

async function getImage(
  ctx: AppContext,
  options: DownloadParts,
  { query: { url, filename = '' } }: { readonly query: DownloadQuery },
): Promise<void> {
  const key = findKey(url, options.storage)
  await assertAllowed({ key, url }, requesterOf(ctx), options)
  const opened = await options.storage.open(key)
  if (opened === null) throw notFound()
  const extension = key.slice(key.lastIndexOf('.') + 1)
  ctx.type = contentTypeOf(key)
  ctx.set('Content-Disposition', attachment(downloadName(filename, { serviceName: options.serviceName, extension })))
  ctx.set('X-Content-Type-Options', 'nosniff')
  if (ctx.get('Range') !== '') return sendImage(ctx, await buffer(opened.content))
  ctx.status = 200
  ctx.set('Accept-Ranges', 'bytes')
  ctx.body = opened.content
  ctx.length = opened.bytes
}

function findKey(url: string, storage: ObjectStorage): string {
  const key = /^https?:\/\//i.test(url) && URL.canParse(url) ? storage.keyOf(url) : null
  if (key !== null) return key
  const message = 'must be the URL of an image of this service'
  throw new DrapeError('VALIDATION_FAILED', `The request is not valid: url ${message}.`, {
    details: [{ path: 'url', message }],
  })
}

/**
 * A link alone is no authorisation: it must be signed by us and unexpired, or lead to a photo or result of this
 * shopper. In both cases only results of the account and photos of the shop's shoppers are served.
 */
async function assertAllowed(
  { key, url }: { key: string; url: string },
  { account, shop, ownerIds }: Requester,
  { objects, storage }: DownloadParts,
): Promise<void> {
  const object = await objects.find(key)
  if (object === null) throw notFound()
  const isResult = object.kind === 'result'
  const isPhoto = object.kind === 'person' && isShopperOf(shop.id, object.externalUserId)
  if (object.accountId !== account.id || !(isResult || isPhoto)) {
    throw new DrapeError('FORBIDDEN', 'The image belongs to another shop or account.')
  }
  const isOwn = object.externalUserId !== null && ownerIds.includes(object.externalUserId)
  if (!isOwn && !(await storage.isSignedUrl(url))) {
    throw new DrapeError(
      'FORBIDDEN',
      'The link has expired or is not signed. Fetch the generation again for a new link.',
    )
  }
}

function notFound(): DrapeError {
  return new DrapeError('IMAGE_NOT_FOUND', 'The image does not exist or has expired.')
}
