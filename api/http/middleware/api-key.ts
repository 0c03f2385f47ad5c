import type { Middleware } from 'koa'
import type { KeyLookup } from '../../accounts/key-lookup.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { AppState } from '../state.ts'

/**
 * Authenticates a request by its `x-api-key`, a live secret key of an active account, and sets `ctx.state.key` and
 * `account`. Throws `MISSING_API_KEY` or `INVALID_API_KEY`.
 */
export function apiKey({ findKey }: { findKey: KeyLookup }): Middleware<AppState> {
  return async function authenticate(ctx, next) {
    // Node joins several with a comma, which no key contains.
    const sent = ctx.get('x-api-key')
    if (/^[, ]*$/.test(sent)) {
      throw new DrapeError('MISSING_API_KEY', 'Send your API key in the header x-api-key.')
    }
    const found = await findKey(sent, ctx.ip)
    if (!found) throw new DrapeError('INVALID_API_KEY', 'The API key is not valid.')
    ctx.state.key = found.key
    ctx.state.account = found.account
    await next()
  }
}

/** Refuses test keys, in an installation that does not run their try-ons. */
export const refuseTestKeys: Middleware<AppState> = (ctx, next) => {
  if (ctx.state.account.testOf === null) return next()
  throw new DrapeError('INVALID_API_KEY', 'This installation has no test mode: the feature test-mode is left out.')
}
