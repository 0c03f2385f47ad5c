import Router from '@koa/router'
import { DrapeError } from '../shared/contract/errors.ts'
import { attachment } from '../shared/storage/attachment.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { cacheControl, contentTypeOf, isKey } from '../shared/storage/object.ts'
import { verifyObjectLink } from '../shared/storage/object-link.ts'
import { sendImage } from './answers/image-body.ts'
import type { AppContext, AppState } from './state.ts'

export interface ObjectOptions {
  readonly storage: ObjectStorage
  readonly signingSecret: string
}

/**
 * GET /objects/<key>: serves signed links of the `file:` storage. (Links of an S3 storage lead to the storage itself.)
 */
export function objectRoutes(options: ObjectOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  router.get('/objects/*key', (ctx: AppContext) => getObject(ctx, options))
  return router
}

async function getObject(ctx: AppContext, { storage, signingSecret }: ObjectOptions): Promise<void> {
  const key = [ctx.params.key].flat().join('/')
  const query = new URLSearchParams(ctx.querystring)
  if (!isKey(key) || !verifyObjectLink({ key, secret: signingSecret, query, now: Date.now() })) {
    throw new DrapeError('FORBIDDEN', 'The link is not valid or has expired.')
  }
  const bytes = await storage.get(key)
  if (!bytes) throw new DrapeError('ROUTE_NOT_FOUND', 'The image has been deleted.')
  ctx.type = contentTypeOf(key)
  ctx.set('Cache-Control', cacheControl(Number(query.get('expires')) - Date.now() / 1000))
  ctx.set('X-Content-Type-Options', 'nosniff')
  // Embedded in the pages of shops.
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  const filename = query.get('filename')
  if (filename) ctx.set('Content-Disposition', attachment(filename))
  sendImage(ctx, bytes)
}
