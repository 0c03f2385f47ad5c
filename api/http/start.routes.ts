import Router from '@koa/router'
import { pageHeaders } from './answers/public-page.ts'
import { presentStartPage, START_SCRIPT_HASH, type StartLink } from './start-page.ts'
import type { AppContext, AppState } from './state.ts'

export interface StartOptions {
  readonly serviceName: string
  readonly publicUrl: string
  /** Links of extensions. */
  readonly links: readonly StartLink[]
}

const OWN_LINKS: readonly StartLink[] = [
  { name: 'document', path: '/tryon/v1/openapi.json', title: 'OpenAPI document' },
  { name: 'health', path: '/healthz', title: 'Health' },
]

/** GET /: page with links, or the same links as JSON; GET /healthz: whether the process responds. */
export function startRoutes({ serviceName, publicUrl, links: others }: StartOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const all = [...others, ...OWN_LINKS]
  const page = presentStartPage(serviceName, all)
  const links = Object.fromEntries(all.map(({ name, path }) => [name, `${publicUrl}${path}`]))
  router.get(
    '/',
    pageHeaders({ vary: 'Accept', cacheControl: 'no-cache', scriptHash: START_SCRIPT_HASH }),
    (ctx: AppContext) => getStart(ctx, { page, links: { name: serviceName, links } }),
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
  ctx.body = { status: 'ok' }
}
