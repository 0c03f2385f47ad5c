import type { Middleware } from 'koa'
import { DrapeError } from '../shared/errors.ts'
import { hashAddress, type Shopper } from '../shopper.ts'
import type { AppContext, AppState } from '../state.ts'
import type { Shops } from '../stores/shops.ts'

const ANONYMOUS_ID = /^anon_[\w-]{1,100}$/

/**
 * Lets a request through that the proxy of a known shop has signed and sets `ctx.state.shop`, `account` and `shopper`. Throws
 * `PROXY_SIGNATURE_INVALID`.
 */
export function shopProxy(options: {
  shops: Shops
  /** Whether a shop may be told by its mere name, in the header `X-Drape-Shop`. */
  development: boolean
  signingSecret: string
}): Middleware<AppState> {
  return async function authenticate(ctx, next) {
    const named = ctx.req.headersDistinct['x-drape-shop'] ?? []
    const found = options.development && named.length === 1 ? await options.shops.find(named[0]) : null
    if (!found) throw new DrapeError('PROXY_SIGNATURE_INVALID', 'The request is not signed by the proxy of a shop.')
    ctx.state.shop = found.shop
    ctx.state.account = found.account
    ctx.state.shopper = readShopper(ctx as AppContext, { customerId: null, signingSecret: options.signingSecret })
    await next()
  }
}

/** The shopper behind a request: a customer only as the proxy has signed it, a browser as it calls itself. */
export function readShopper(
  ctx: AppContext,
  { customerId, signingSecret }: { customerId: string | null; signingSecret: string },
): Shopper {
  const anonymousId = ctx.get('x-service-anonymous-id')
  return {
    customerId,
    anonymousId: ANONYMOUS_ID.test(anonymousId) ? anonymousId : null,
    addressHash: hashAddress(ctx.ip, signingSecret),
  }
}
