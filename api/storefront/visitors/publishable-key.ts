import type { Middleware } from 'koa'
import type { KeyLookup } from '../../accounts/key-lookup.ts'
import type { ReceiveBody } from '../../http/bodies/signed-body.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { networkOf } from '../../shared/network/addresses.ts'
import { readShopper } from '../../shops/shop-proxy.ts'

const BEARER = /^bearer +(\S+) *$/i

/**
 * Authenticates a request by its `Authorization: Bearer pk_…`, a live publishable key of an active account, and sets
 * `ctx.state.key`, `account` and `shopper`; `shop` is null. A request without that header but with the marks of a
 * shop's proxy is passed to the proxy's check. Throws `MISSING_API_KEY` or `INVALID_API_KEY`.
 */
export function publishableKeyOr(
  proxy: Middleware<AppState>,
  { findKey, receiveBody, signingSecret }: { findKey: KeyLookup; receiveBody: ReceiveBody; signingSecret: string },
): Middleware<AppState> {
  return async function authenticate(ctx, next) {
    const sent = ctx.req.headersDistinct.authorization ?? []
    if (sent.length === 0) {
      if (hasProxyMarks(ctx as AppContext)) return proxy(ctx, next)
      throw new DrapeError('MISSING_API_KEY', 'Send your publishable key in the header Authorization: Bearer pk_….')
    }
    const [, key = ''] = BEARER.exec(sent[0]) ?? []
    const found = sent.length === 1 ? await findKey(key, ctx.ip) : null
    if (!found) throw new DrapeError('INVALID_API_KEY', 'The publishable key is not valid.')
    ctx.state.key = found.key
    ctx.state.account = found.account
    ctx.state.shop = null
    // The key is public, so its user could claim to be any customer.
    ctx.state.shopper = readShopper(ctx as AppContext, { customerId: null, signingSecret })
    // The key is public, so its users are strangers: their bodies share a limit before the parser holds them in memory.
    const body = await receiveBody(ctx.req, { address: networkOf(ctx.ip), shop: found.account.id })
    try {
      ctx.req = body.replay()
      await next()
    } finally {
      body.release()
    }
  }
}

function hasProxyMarks({ query, headers }: AppContext): boolean {
  return query.signature !== undefined || Object.keys(headers).some((name) => name.startsWith('x-drape-'))
}
