import cors from '@koa/cors'
import type { Middleware } from 'koa'
import type { AppState } from '../state.ts'

/**
 * Routes that a widget in an iframe or a headless shop calls from another origin. Not the server API: its key must
 * never reach a browser.
 */
const STOREFRONT = /^\/(storefront\/v1|public)\//
/** Public links: shared results and images. */
const LINKED = /^\/(objects|s)\//

/** Lifetime of a preflight response; browsers limit it to 2 hours. */
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
 * Lets pages of any origin read responses of the storefront, errors included, and images of links. Credentials such as
 * cookies are not allowed, so a page cannot act for a user who is signed in elsewhere.
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
    return STOREFRONT.test(ctx.path) || LINKED.test(ctx.path) ? share(ctx, next) : next()
  }
}
