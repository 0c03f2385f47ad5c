import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import Router from '@koa/router'
import { DrapeError } from '../../shared/errors.ts'
import type { AppContext, AppState } from '../../state.ts'
import { presentPage } from './page.ts'

export interface DocsOptions {
  readonly serviceName: string
}

const VIEWER = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'))

/** Everything that the page loads, and nothing else. */
const ASSETS: Readonly<Record<string, { url: URL; type: string }>> = {
  'swagger-ui.css': { url: new URL('swagger-ui.css', VIEWER), type: 'text/css' },
  'swagger-ui-bundle.js': { url: new URL('swagger-ui-bundle.js', VIEWER), type: 'text/javascript' },
  'viewer.css': { url: new URL('viewer.css', import.meta.url), type: 'text/css' },
  'viewer.js': { url: new URL('viewer.js', import.meta.url), type: 'text/javascript' },
}

/** The page and what it loads come from here alone; the key that a reader types in goes nowhere else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** GET /docs: a page to read the OpenAPI document on and to try it; GET /docs/<edition>/<file>: what the page loads. */
export function docsRoutes({ serviceName }: DocsOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const edition = editionOfAssets()
  const page = presentPage({ serviceName, assets: `/docs/${edition}` })
  router.get('/docs', (ctx: AppContext) => getPage(ctx, page))
  router.get('/docs/:edition/:file', (ctx: AppContext) => getAsset(ctx, edition))
  return router
}

function getPage(ctx: AppContext, page: string): void {
  ctx.type = 'text/html'
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.body = page
}

async function getAsset(ctx: AppContext, edition: string): Promise<void> {
  const { file } = ctx.params
  if (ctx.params.edition !== edition || !Object.hasOwn(ASSETS, file)) {
    throw new DrapeError('ROUTE_NOT_FOUND', 'The file does not exist.')
  }
  const { url, type } = ASSETS[file]
  ctx.type = type
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.body = await readFile(url)
}

/** Part of every asset's address, so that browsers may keep them for ever: changes whenever one of them does. */
function editionOfAssets(): string {
  const hash = createHash('sha256')
  for (const { url } of Object.values(ASSETS)) hash.update(readFileSync(url))
  return hash.digest('hex').slice(0, 16)
}
