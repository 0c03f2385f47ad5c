import type { Middleware } from 'koa'
import { createKeyLookup } from '../key-lookup.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppState } from '../state.ts'
import type { Accounts } from '../stores/accounts.ts'

/**
 * Lets a request through whose `x-api-key` is a live secret key of an active account. Throws `MISSING_API_KEY` or
 * `INVALID_API_KEY`.
 */
export function apiKey({ accounts, now }: { accounts: Accounts; now?: () => number }): Middleware<AppState> {
  const find = createKeyLookup({ accounts, kind: 'secret', now })

  return async function authenticate(ctx, next) {
    const sent = ctx.req.headersDistinct['x-api-key'] ?? []
    if (sent.length === 0 || sent.every((key) => key === '')) {
      throw new DrapeError('MISSING_API_KEY', 'Send your API key in the header x-api-key.')
    }
    const account = sent.length === 1 ? await find(sent[0]) : null
    if (!account) throw new DrapeError('INVALID_API_KEY', 'The API key is not valid.')
    ctx.state.account = account
    await next()
  }
}
