import type { Middleware } from 'koa'
import type { KeyLookup } from '../key-lookup.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppContext, AppState } from '../state.ts'
import { readShopper } from './shop-proxy.ts'

const BEARER = /^bearer +(\S+) *$/i

/**
 * Lets a request through whose `Authorization: Bearer pk_…` is a live publishable key of an active account and sets
 * `ctx.state.account` and `shopper`; `shop` is null. One without that header but with the marks of a shop's proxy is the proxy's
 * to judge. Throws `MISSING_API_KEY` or `INVALID_API_KEY`.
 */
export function publishableKeyOr(
  proxy: Middleware<AppState>,
  { findAccount, signingSecret }: { findAccount: KeyLookup; signingSecret: string },
): Middleware<AppState> {
  return async function authenticate(ctx, next) {
    const sent = ctx.req.headersDistinct.authorization ?? []
    if (sent.length === 0) {
      if (hasProxyMarks(ctx as AppContext)) return proxy(ctx as never, next)
      throw new DrapeError('MISSING_API_KEY', 'Send your publishable key in the header Authorization: Bearer pk_….')
    }
    const [, key = ''] = BEARER.exec(sent[0]) ?? []
    const account = sent.length === 1 ? await findAccount(key) : null
    if (!account) throw new DrapeError('INVALID_API_KEY', 'The publishable key is not valid.')
    ctx.state.account = account
    ctx.state.shop = null
    // Whoever has the key, which is anybody, can say to be any customer.
    ctx.state.shopper = readShopper(ctx as AppContext, { customerId: null, signingSecret })
    await next()
  }
}

function hasProxyMarks({ query, headers }: AppContext): boolean {
  return query.signature !== undefined || Object.keys(headers).some((name) => name.startsWith('x-drape-'))
}
