import type { Middleware } from 'koa'
import type { ReceiveBody } from '../http/bodies/signed-body.ts'
import type { AppContext, AppState } from '../http/state.ts'
import type { ProxyNonces } from '../shared/database/proxy-nonces.store.ts'
import { networkOf } from '../shared/network/addresses.ts'
import { cacheBriefly } from '../shared/process/brief-cache.ts'
import { shopperAddress } from './address.ts'
import type { Attempt, RefusedRequests } from './refused-requests.ts'
import { hashAddress, type Shopper } from './shopper.ts'
import type { FoundShop, Shops } from './shops.store.ts'
import { isSignedWith, pluginMessage } from './signature.ts'
import { claimRefused, readShopClaim, type ShopClaim } from './signed-request.ts'
import { readVisitorToken } from './visitor-token.ts'

const ANONYMOUS_ID = /^anon_[\w-]{1,100}$/

export interface ShopProxyOptions {
  readonly shops: Shops
  readonly nonces: ProxyNonces
  /** Records the reason of a refusal for the merchant. */
  readonly refused: Pick<RefusedRequests, 'note'>
  /** Shared by all routes, so that they share its limits. */
  readonly receiveBody: ReceiveBody
  /** Whether a shop's name alone, in the header `X-Drape-Shop`, authenticates it. */
  readonly development: boolean
  readonly signingSecret: string
  /** Number of our own reverse proxies before the API. */
  readonly proxyHops?: number
  readonly now?: () => number
}

/**
 * Authenticates a request by the signature of a known shop's proxy, in the format of its platform, and sets
 * `ctx.state.shop`, `account` and `shopper`. Throws `PROXY_SIGNATURE_INVALID`, whose `details` name the failed check.
 */
export function shopProxy(options: ShopProxyOptions): Middleware<AppState> {
  const { nonces, refused, receiveBody, development, signingSecret, proxyHops = 0, now = Date.now } = options
  // Caches unknown shops too: the response time must not reveal which shops exist.
  const find = cacheBriefly((domain) => options.shops.find(domain), { now })

  // The same error for an unknown shop and a wrong signature: strangers must not learn which shops exist.
  const unauthenticated = () =>
    claimRefused(
      'signature',
      'The signature does not match, or no shop has this domain. The dashboard and the log of the service show the merchant which of both, and the text to sign.',
      now(),
    )

  /** Returns the shop if its claim is authentic. `bodyHash` is the hash of the received body. */
  async function prove(claim: ShopClaim, found: FoundShop | null, bodyHash: string): Promise<FoundShop> {
    if (claim.platform !== 'development') {
      const message = claim.platform === 'plugin' ? pluginMessage({ ...claim.signed, bodyHash }) : claim.message
      const secrets = found?.shop.secrets.map(({ secret }) => secret) ?? []
      if (!isSignedWith(secrets, message, claim.signature)) throw unauthenticated()
    }
    if (found === null) throw unauthenticated()
    if (!found.account.isActive)
      throw claimRefused('account', 'The account of the shop is deactivated: ask the operator of the service.', now())
    // Checked last, so that only a shop itself can use up its nonces.
    if (claim.platform === 'plugin' && !(await nonces.use({ shopId: found.shop.id, ...claim.nonce })))
      throw claimRefused('nonce', 'The nonce was used before. Each request needs a new nonce, also a retry.', now())
    return found
  }

  return async function authenticate(ctx, next) {
    const attempt: Attempt = {
      request: ctx.req,
      network: networkOf(ctx.ip),
      log: ctx.state.log,
      claim: null,
      bodyHash: '',
    }
    const noting = async <T>(check: () => T | Promise<T>): Promise<T> => {
      try {
        return await check()
      } catch (error) {
        refused.note(error, attempt)
        throw error
      }
    }
    const claim = await noting(() => readShopClaim(ctx.req, { now: now(), development }))
    attempt.claim = claim
    const known = await find(claim.domain)
    const found = known?.shop.platform === claim.platform ? known : null
    const enter = ({ shop, account }: FoundShop) => {
      Object.assign(ctx.state, { shop, account })
      ctx.state.shopper = readShopper(ctx as AppContext, {
        customerId: isStartedElsewhere(ctx) ? null : claim.customerId,
        visitorId: readVisitorToken(ctx.get('x-service-visitor-token'), {
          shopId: shop.id,
          secret: signingSecret,
          now: now(),
        }),
        ...shopperAddress(ctx as AppContext, claim, proxyHops),
        signingSecret,
      })
      return next()
    }
    if (claim.platform !== 'plugin') return enter(await noting(() => prove(claim, found, '')))
    const owner = { address: networkOf(ctx.ip), shop: claim.domain.toLowerCase() }
    const body = await noting(() => receiveBody(ctx.req, owner))
    try {
      attempt.bodyHash = body.hash
      const proven = await noting(() => prove(claim, found, body.hash))
      body.trust()
      ctx.req = body.replay()
      await enter(proven)
    } finally {
      body.release()
    }
  }
}

/**
 * Whether a page of another site started a request that changes something. The proxy adds the customer of its cookies to such a
 * request too, so that site could act for the customer.
 */
function isStartedElsewhere(ctx: Pick<AppContext, 'method' | 'get'>): boolean {
  return !['GET', 'HEAD'].includes(ctx.method) && ctx.get('sec-fetch-site') === 'cross-site'
}

/** The shopper of a request: the customer only from signed parameters, the browser as it identifies itself. */
export function readShopper(
  ctx: AppContext,
  {
    customerId,
    visitorId = null,
    address = ctx.ip,
    isAddressShared = false,
    signingSecret,
  }: {
    customerId: string | null
    visitorId?: string | null
    address?: string
    isAddressShared?: boolean
    signingSecret: string
  },
): Shopper {
  const anonymousId = ctx.get('x-service-anonymous-id')
  return {
    customerId,
    anonymousId: ANONYMOUS_ID.test(anonymousId) ? anonymousId : null,
    visitorId,
    address,
    isAddressShared,
    addressHash: hashAddress(address, signingSecret),
  }
}
