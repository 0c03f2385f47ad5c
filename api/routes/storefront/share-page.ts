import Router from '@koa/router'
import type { Middleware } from 'koa'
import { HTTP_STATUS } from '../../middleware/errors.ts'
import { DrapeError } from '../../shared/errors.ts'
import { contentTypeOf, type ObjectStorage } from '../../shared/storage/object.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { SharedGeneration, Shares } from '../../stores/shares.ts'
import { presentShare } from './share.view.ts'
import { isShareToken } from './share-link.ts'
import { presentRefusal, presentSharePage, STYLE_HASH } from './share-page.view.ts'

export interface SharePageOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly shares: Shares
  readonly storage: ObjectStorage
  readonly shareUrl: string
  readonly serviceName: string
}

/** GET /s/:token: for everybody, a page, or JSON for those who ask for it. */
export function sharePageRoutes(options: SharePageOptions): Router<AppState> {
  const router = new Router<AppState>()
  const guards = [setHeaders, refuseByPage(options), ...options.guards] as never[]
  router.get('/s/:token', ...guards, (ctx: AppContext) => getShare(ctx, options))
  return router
}

async function getShare(ctx: AppContext, options: SharePageOptions): Promise<void> {
  const { token } = ctx.params
  const shared = isShareToken(token) ? await options.shares.find(token) : null
  if (shared === null) throw new DrapeError('SHARE_LINK_NOT_FOUND', 'There is no such link.')
  const { resultKey } = shared
  if (resultKey === null) throw new DrapeError('SHARE_LINK_GONE', 'The link has ended, or its picture.')
  const imageUrl = await options.storage.signedUrl(resultKey, { expiresInSeconds: secondsLeft(shared) })
  const share = presentShare(shared, { imageUrl, shareUrl: options.shareUrl })
  if (wantsJson(ctx)) {
    ctx.body = share
    return
  }
  ctx.set('Content-Security-Policy', policy([new URL(imageUrl).origin]))
  ctx.type = 'html'
  ctx.body = presentSharePage(share, { imageType: contentTypeOf(resultKey), serviceName: options.serviceName })
}

/** A link to the picture works for so long, but never longer than the page's own. */
const IMAGE_SECONDS = 3600

function secondsLeft({ expiresAt }: SharedGeneration): number {
  return Math.max(1, Math.min(IMAGE_SECONDS, Math.ceil((expiresAt.getTime() - Date.now()) / 1000)))
}

function wantsJson(ctx: AppContext): boolean {
  return ctx.accepts('html', 'json') === 'json'
}

/** The page is the shopper's: nobody keeps it, no search engine lists it, and where it leads to does not learn its address. */
const setHeaders: Middleware<AppState> = (ctx, next) => {
  ctx.vary('Accept')
  ctx.set('Cache-Control', 'no-store')
  ctx.set('X-Robots-Tag', 'noindex, noimageindex')
  ctx.set('Referrer-Policy', 'strict-origin')
  ctx.set('X-Content-Type-Options', 'nosniff')
  return next()
}

/** The page runs nothing, and loads nothing but its picture. */
function policy(imageOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    ['img-src', ...imageOrigins, 'data:'].join(' '),
    `style-src '${STYLE_HASH}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** People are told why there is no picture in their own way; faults are left to the log and its readers. */
function refuseByPage({ serviceName }: SharePageOptions): Middleware<AppState> {
  return async function refuse(ctx, next) {
    try {
      await next()
    } catch (error) {
      const code = error instanceof DrapeError ? error.code : null
      const page = code === null || wantsJson(ctx as AppContext) ? null : presentRefusal(code, serviceName)
      if (code === null || page === null) throw error
      ctx.status = HTTP_STATUS[code]
      ctx.set('Content-Security-Policy', policy([]))
      ctx.type = 'html'
      ctx.body = page
    }
  }
}
