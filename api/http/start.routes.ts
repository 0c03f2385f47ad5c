import Router from '@koa/router'
import { pageHeaders } from './answers/public-page.ts'
import { presentStartPage } from './start-page.ts'
import type { AppContext, AppState } from './state.ts'

export interface StartOptions {
  readonly serviceName: string
  readonly publicUrl: string
}

/** Links for visitors of the root URL. */
const LINKS = {
  playground: '/playground',
  analytics: '/analytics',
  reference: '/docs',
  guide: '/guide',
  document: '/tryon/v1/openapi.json',
  health: '/healthz',
} as const

/** GET /: page with links, or the same links as JSON; GET /healthz: whether the process responds. */
export function startRoutes({ serviceName, publicUrl }: StartOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const page = presentStartPage(serviceName)
  const links = Object.fromEntries(Object.entries(LINKS).map(([name, path]) => [name, `${publicUrl}${path}`]))
  router.get('/', pageHeaders({ vary: 'Accept', cacheControl: 'no-cache' }), (ctx: AppContext) =>
    getStart(ctx, { page, links: { name: serviceName, links } }),
  )
  router.get('/healthz', getHealth)
  return router
}

function getStart(ctx: AppContext, { page, links }: { readonly page: string; readonly links: object }): void {
  if (ctx.accepts('html', 'json') === 'json') {
    ctx.body = links
    return
  }
  ctx.type = 'html'
  ctx.body = page
}

function getHealth(ctx: AppContext): void {
  ctx.set('Cache-Control', 'no-store')
  ctx.body = { status: 'ok' }
}
