import Router from '@koa/router'
import type { AppContext, AppState } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { type Assets, readAssets } from './assets.ts'
import { presentPage } from './page.ts'

export interface PlaygroundOptions {
  readonly serviceName: string
  /** Whether the service has outfits. */
  readonly hasOutfits: boolean
  readonly storage: Pick<ObjectStorage, 'signedUrl'>
}

/** GET /playground: page to try the service, for holders of an API key; GET /playground/<edition>/…: its files. */
export function playgroundRoutes({ serviceName, hasOutfits, storage }: PlaygroundOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const assets = readAssets()
  const page = presentPage({ serviceName, hasOutfits, assets: `/playground/${assets.edition}` })
  router.get('/playground', async (ctx: AppContext) =>
    getPage(ctx, { page, imageOrigin: await originOfImages(storage) }),
  )
  router.get('/playground/:edition{/:folder}/:file', (ctx: AppContext) => getAsset(ctx, assets))
  return router
}

function getPage(ctx: AppContext, { page, imageOrigin }: { page: string; imageOrigin: string }): void {
  ctx.type = 'text/html'
  ctx.set('Content-Security-Policy', policyFor(imageOrigin))
  ctx.set('Permissions-Policy', 'camera=(self), microphone=(), geolocation=()')
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.body = page
}

/** The page loads only from this origin, except images from the object storage; the key goes nowhere else. */
function policyFor(imageOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob: ${imageOrigin}`.trimEnd(),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Origin of image links; empty while the storage is unavailable. */
async function originOfImages(storage: Pick<ObjectStorage, 'signedUrl'>): Promise<string> {
  try {
    return new URL(await storage.signedUrl('results/any.jpg', { expiresInSeconds: 1 })).origin
  } catch {
    return ''
  }
}

async function getAsset(ctx: AppContext, { edition, files }: Assets): Promise<void> {
  const { folder, file } = ctx.params
  const asset = files.get(folder === undefined ? file : `${folder}/${file}`)
  if (ctx.params.edition !== edition || asset === undefined) {
    throw new DrapeError('ROUTE_NOT_FOUND', 'The file does not exist.')
  }
  ctx.type = asset.type
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.body = await asset.read()
}
