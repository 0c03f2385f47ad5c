import { createHash } from 'node:crypto'
import Router from '@koa/router'
import type { AppContext, AppState } from '../../state.ts'

export interface OpenApiOptions {
  readonly document: object
}

/** GET /openapi.json, for everyone */
export function openApiRoutes({ document }: OpenApiOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  const text = JSON.stringify(document)
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  router.get('/openapi.json', (ctx: AppContext) => getDocument(ctx, { text, etag }))
  return router
}

function getDocument(ctx: AppContext, { text, etag }: { text: string; etag: string }): void {
  ctx.status = 200
  ctx.set('ETag', etag)
  ctx.set('Cache-Control', 'public, max-age=300')
  // Generators of clients and viewers in browsers fetch it from wherever they are.
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.type = 'application/json'
  if (ctx.fresh) ctx.status = 304
  else ctx.body = text
}
