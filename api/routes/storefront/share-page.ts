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

/** GET /s/:token: public. JSON, or a page for browsers and for the previews that messengers make. */
export function sharePageRoutes(options: SharePageOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const guards = [setHeaders, refuseByPage(options), ...options.guards] as never[]
  router.get('/s/:token', ...guards, (ctx: AppContext) => getShare(ctx, options))
  return router
}

async function getShare(ctx: AppContext, options: SharePageOptions): Promise<void> {
  const { token } = ctx.params
  const shared = isShareToken(token) ? await options.shares.find(token) : null
  if (shared === null) throw new DrapeError('SHARE_LINK_NOT_FOUND', 'The link does not exist.')
  const { resultKey } = shared
  if (resultKey === null) throw new DrapeError('SHARE_LINK_GONE', 'The link or its image has expired.')
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

/** Programs that make previews of links from a page's Open Graph tags. They send a wildcard `Accept`, or none. */
const PREVIEWERS =
  /facebookexternalhit|Facebot|Twitterbot|WhatsApp|TelegramBot|Slackbot|LinkedInBot|Discordbot|Pinterestbot|redditbot|SkypeUriPreview/i

function wantsJson(ctx: AppContext): boolean {
  if (ctx.accepts('json', 'html') === 'html') return false
  return !PREVIEWERS.test(ctx.get('User-Agent')) || ctx.get('Accept').includes('json')
}

/** The page is the shopper's: it is not cached, no search engine lists it, and sites that it links to do not learn its address. */
const setHeaders: Middleware<AppState> = (ctx, next) => {
  ctx.vary('Accept, User-Agent')
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

/** The page gives visitors a reason in plain words; faults go to the log. */
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
