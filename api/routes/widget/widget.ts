import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Router from '@koa/router'
import type { AppContext, AppState } from '../../state.ts'

/** Built from `api/widget/` by `scripts/widget build`. */
const SCRIPT = new URL('drape-try-on.js', import.meta.url)

type Bodies = Readonly<Record<'br' | 'gzip' | 'identity', Buffer>>

/** GET /widget.js: the widget for the pages of shops, served directly or through the proxy of a shop. */
export function widgetRoutes(): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const script = readFileSync(SCRIPT)
  const bodies: Bodies = { br: brotliCompressSync(script), gzip: gzipSync(script, { level: 9 }), identity: script }
  const edition = createHash('sha256').update(script).digest('base64url').slice(0, 22)
  router.get('/widget.js', (ctx: AppContext) => getWidget(ctx, bodies, edition))
  return router
}

function getWidget(ctx: AppContext, bodies: Bodies, edition: string): void {
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity') || 'identity'
  ctx.status = 200
  ctx.type = 'text/javascript'
  // Pages get a new version soon after an upgrade, and use the cached one while revalidating.
  ctx.set('Cache-Control', 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800')
  ctx.set('ETag', `W/"${edition}"`)
  ctx.set('Vary', 'Accept-Encoding')
  ctx.set('X-Content-Type-Options', 'nosniff')
  // Pages of any origin load it, also pages that require this header.
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
  ctx.body = bodies[encoding as keyof Bodies]
}
