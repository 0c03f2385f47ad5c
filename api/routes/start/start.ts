import Router from '@koa/router'
import type { AppContext, AppState } from '../../state.ts'
import { presentStartPage, STYLE_HASH } from './page.ts'

export interface StartOptions {
  readonly serviceName: string
  readonly publicUrl: string
}

/** Links for visitors of the root URL. */
const LINKS = {
  playground: '/playground',
  reference: '/docs',
  guide: '/guide',
  document: '/tryon/v1/openapi.json',
  health: '/healthz',
} as const

/** The page runs no scripts and loads nothing. */
const POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src '${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** GET /: page with links, or the same links as JSON; GET /healthz: whether the process responds. */
export function startRoutes({ serviceName, publicUrl }: StartOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const page = presentStartPage(serviceName)
  const links = Object.fromEntries(Object.entries(LINKS).map(([name, path]) => [name, `${publicUrl}${path}`]))
  router.get('/', (ctx: AppContext) => getStart(ctx, { page, links: { name: serviceName, links } }))
  router.get('/healthz', getHealth)
  return router
}

function getStart(ctx: AppContext, { page, links }: { readonly page: string; readonly links: object }): void {
  ctx.vary('Accept')
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('X-Content-Type-Options', 'nosniff')
  if (ctx.accepts('html', 'json') === 'json') {
    ctx.body = links
    return
  }
  ctx.set('Content-Security-Policy', POLICY)
  ctx.type = 'html'
  ctx.body = page
}

function getHealth(ctx: AppContext): void {
  ctx.set('Cache-Control', 'no-store')
  ctx.body = { status: 'ok' }
}
