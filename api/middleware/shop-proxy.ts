import type { Middleware } from 'koa'
import { rememberBriefly } from '../brief-memory.ts'
import type { ProxyNonces } from '../shared/stores/proxy-nonces.ts'
import { claimRefused, readShopClaim, type ShopClaim } from '../shop-claim.ts'
import { isSignedWith } from '../shop-signature.ts'
import { hashAddress, type Shopper } from '../shopper.ts'
import { createBodyReceiver } from '../signed-body.ts'
import type { AppContext, AppState } from '../state.ts'
import type { FoundShop, Shops } from '../stores/shops.ts'

const ANONYMOUS_ID = /^anon_[\w-]{1,100}$/

export interface ShopProxyOptions {
  readonly shops: Shops
  readonly nonces: ProxyNonces
  /** Whether a shop may be told by its mere name, in the header `X-Drape-Shop`. */
  readonly development: boolean
  readonly signingSecret: string
  readonly now?: () => number
}

/**
 * Lets a request through that the proxy of a known shop has signed in the way of its platform, and sets `ctx.state.shop`,
 * `account` and `shopper`. Throws `PROXY_SIGNATURE_INVALID`, whatever is wrong.
 */
export function shopProxy(options: ShopProxyOptions): Middleware<AppState> {
  const { nonces, development, signingSecret, now = Date.now } = options
  // Shops that do not exist are remembered too: nobody is to see by the time of an answer which do.
  const find = rememberBriefly((domain) => options.shops.find(domain), { now })
  const receiveBody = createBodyReceiver()

  /** The shop that the claim is about, when it is true; `bodyHash` is that of a body that was received. */
  async function prove(claim: ShopClaim, found: FoundShop | null, bodyHash: string): Promise<FoundShop> {
    if (claim.platform !== 'development') {
      const message = claim.platform === 'plugin' ? claim.messageOf(bodyHash) : claim.message
      const secrets = found?.shop.secrets.map(({ secret }) => secret) ?? []
      if (!isSignedWith(secrets, message, claim.signature)) throw claimRefused()
    }
    if (found === null) throw claimRefused()
    // Last, so that only a shop itself can use up its nonces.
    if (claim.platform === 'plugin' && !(await nonces.use({ shopId: found.shop.id, ...claim.nonce })))
      throw claimRefused()
    return found
  }

  return async function authenticate(ctx, next) {
    const claim = readShopClaim(ctx.req, { now: now(), development })
    if (claim === null) throw claimRefused()
    const known = await find(claim.domain)
    const found = known?.shop.platform === claim.platform ? known : null
    const enter = ({ shop, account }: FoundShop) => {
      Object.assign(ctx.state, { shop, account })
      ctx.state.shopper = readShopper(ctx as AppContext, { customerId: claim.customerId, signingSecret })
      return next()
    }
    if (claim.platform !== 'plugin') return enter(await prove(claim, found, ''))
    const body = await receiveBody(ctx.req, { keep: found !== null })
    try {
      const proven = await prove(claim, found, body.hash)
      ctx.req = body.replay()
      await enter(proven)
    } finally {
      body.release()
    }
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
