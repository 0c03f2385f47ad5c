import type { Middleware } from 'koa'
import { pagePolicy } from '../../http/answers/public-page.ts'
import { refuseByPage } from '../../http/middleware/refuse-by-page.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { contentTypeOf, type ObjectStorage } from '../../shared/storage/object.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { chooseLanguage, pageLanguages } from '../../shops/page-language.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { SharedTryOn } from './share.schema.ts'
import { presentShare } from './share.view.ts'
import { isShareToken } from './share-link.ts'
import { presentRefusal, presentSharePage, SHARE_TEXTS } from './share-page.view.ts'
import type { SharedGeneration, Shares } from './shares.store.ts'

export interface SharePageParts {
  readonly shares: Shares
  readonly storage: ObjectStorage
  readonly shareUrl: string
  readonly serviceName: string
}

interface SharePageGuards {
  readonly budgets: Budgets
  readonly serviceName: string
}

/** JSON, or a page for browsers and for link previews of messengers. */
export const sharePageRoutes = [
  route({
    method: 'get',
    path: '/s/{token}',
    id: 'getShare',
    tag: 'Storefront',
    summary: 'Open a shared result',
    description: `JSON unless \`text/html\` is preferred, as browsers do; then a page. Pages of any origin may read it. ${describeBudget('share-page')}`,
    parameters: { token: 'The shareToken.' },
    access: 'open',
    pages: [200, 404, 410, 429],
    answers: { 200: { description: 'The shared result.', schema: SharedTryOn } },
    errors: ['SHARE_LINK_NOT_FOUND', 'SHARE_LINK_GONE', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ budgets, serviceName }: SharePageGuards) => [
      setHeaders,
      refuseByPage({
        present: (code, ctx) => presentRefusal(code, { serviceName, language: languageOf(ctx) }),
        isWanted: (ctx) => !wantsJson(ctx),
        policy: pagePolicy(),
      }),
      budgets.limit('share-page'),
    ],
    handler: getShare,
  }),
]

async function getShare(
  ctx: AppContext,
  options: SharePageParts,
  { params: { token } }: { readonly params: { readonly token: string } },
): Promise<SharedTryOn | undefined> {
  const shared = isShareToken(token) ? await options.shares.find(token) : null
  if (shared === null) throw new DrapeError('SHARE_LINK_NOT_FOUND', 'The link does not exist.')
  const { resultKey } = shared
  if (resultKey === null) throw new DrapeError('SHARE_LINK_GONE', 'The link or its image has expired.')
  const imageUrl = await options.storage.signedUrl(resultKey, { expiresInSeconds: secondsLeft(shared) })
  const share = presentShare(shared, { imageUrl, shareUrl: options.shareUrl })
  if (wantsJson(ctx)) return share
  ctx.set('Content-Security-Policy', pagePolicy({ imageOrigins: [new URL(imageUrl).origin] }))
  ctx.type = 'html'
  ctx.body = presentSharePage(share, {
    imageType: contentTypeOf(resultKey),
    serviceName: options.serviceName,
    language: languageOf(ctx),
  })
  return undefined
}

function languageOf(ctx: AppContext): string {
  return chooseLanguage(pageLanguages(ctx), SHARE_TEXTS)
}

/** Maximum lifetime of an image link in seconds; it never exceeds that of the page. */
const IMAGE_SECONDS = 3600

function secondsLeft({ expiresAt }: SharedGeneration): number {
  return Math.max(1, Math.min(IMAGE_SECONDS, Math.ceil((expiresAt.getTime() - Date.now()) / 1000)))
}

/** Programs that create link previews from Open Graph tags. They send a wildcard `Accept` or none. */
const PREVIEWERS =
  /facebookexternalhit|Facebot|Twitterbot|WhatsApp|TelegramBot|Slackbot|LinkedInBot|Discordbot|Pinterestbot|redditbot|SkypeUriPreview/i

function wantsJson(ctx: AppContext): boolean {
  if (ctx.accepts('json', 'html') === 'html') return false
  return !PREVIEWERS.test(ctx.get('User-Agent')) || ctx.get('Accept').includes('json')
}

/** The page is private: it is not cached or indexed, and sends no referrer. */
const setHeaders: Middleware<AppState> = (ctx, next) => {
  ctx.vary('Accept, Accept-Language, User-Agent')
  ctx.set('X-Robots-Tag', 'noindex, noimageindex')
  ctx.set('Referrer-Policy', 'strict-origin')
  ctx.set('X-Content-Type-Options', 'nosniff')
  return next()
}
