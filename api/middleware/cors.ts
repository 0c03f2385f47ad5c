import cors from '@koa/cors'
import type { Middleware } from 'koa'
import type { AppState } from '../state.ts'

/**
 * What a widget in an iframe or a headless shop calls from another origin. The server API is not among it: its key never
 * belongs into a browser.
 */
const STOREFRONT = /^\/(storefront\/v1|public)\//
/** Public links: shared results and the images that links lead to. */
const LINKED = /^\/(objects|s)\//

/** Browsers ask again after this; none believes an answer for longer than two hours. */
const PREFLIGHT_SECONDS = 7200

const HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'X-Request-Id',
  'X-Service-Anonymous-Id',
  'X-Service-Customer-Email',
  'X-Service-Customer-Id',
  'X-Service-Visitor-Token',
]

/**
 * Lets pages of any origin read the answers of the storefront, refusals included, and the pictures that links lead to. Cookies
 * and the like are of no use there, so that no page can act for someone who is signed in elsewhere. Nobody keeps the answers
 * of the storefront that do not say so themselves.
 */
export function storefrontCors({ development }: { development: boolean }): Middleware<AppState> {
  const share = cors({
    origin: '*',
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT'],
    allowHeaders: development ? [...HEADERS, 'X-Drape-Shop'] : HEADERS,
    exposeHeaders: ['Content-Disposition', 'Retry-After', 'X-Request-Id'],
    maxAge: PREFLIGHT_SECONDS,
  }) as Middleware<AppState>
  return function crossOrigin(ctx, next) {
    if (STOREFRONT.test(ctx.path)) ctx.set('Cache-Control', 'no-store')
    else if (!LINKED.test(ctx.path)) return next()
    return share(ctx, next)
  }
}
