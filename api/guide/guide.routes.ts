import { createHash } from 'node:crypto'
import Router from '@koa/router'
import { createEncodedBody, type EncodedBody, sendEncoded } from '../http/answers/encoded-body.ts'
import type { AppContext, AppState } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { createSite, type SiteFile, type SiteOptions } from './site.ts'

/** Pages load only from this origin. */
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

/** GET /guide, GET /docs and below: the documentation site with the API reference, built on the first request. */
export function guideRoutes(options: SiteOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  let site: ReadonlyMap<string, SiteFile> | undefined
  const bodies = new Map<string, EncodedBody>()
  const answer = (ctx: AppContext, path: string) => {
    site ??= createSite(options)
    const file = site.get(path)
    if (file === undefined) throw new DrapeError('ROUTE_NOT_FOUND', 'The page does not exist.')
    const body = bodies.get(path) ?? createEncodedBody(file.body)
    bodies.set(path, body)
    return sendFile(ctx, file, body)
  }
  const answerPath = (ctx: AppContext) => answer(ctx, ctx.path.replace(/\/$/, ''))
  router.get('/guide{/*rest}', answerPath)
  router.get('/docs{/*rest}', answerPath)
  router.get('/llms.txt', (ctx: AppContext) => answer(ctx, '/guide/llms.txt'))
  return router
}

async function sendFile(ctx: AppContext, file: SiteFile, body: EncodedBody): Promise<void> {
  ctx.type = file.type
  ctx.set('Cache-Control', 'public, max-age=300')
  ctx.set('ETag', `W/"${createHash('sha256').update(file.body).digest('base64url')}"`)
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('X-Content-Type-Options', 'nosniff')
  if (file.type === 'text/html') ctx.set('Content-Security-Policy', POLICY)
  await sendEncoded(ctx, body)
}
