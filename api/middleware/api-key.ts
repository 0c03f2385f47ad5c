import type { Middleware } from 'koa'
import { isWellFormedKey } from '../credentials.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppState } from '../state.ts'
import type { AccountRecord, Accounts } from '../stores/accounts.ts'

/** How long a looked-up key may be believed: the longest time after which a revoked one is refused everywhere. */
const BELIEVED_MS = 3000
const REMEMBERED_KEYS = 10_000

/**
 * Lets a request through whose `x-api-key` is a live secret key of an active account. Throws `MISSING_API_KEY` or
 * `INVALID_API_KEY`.
 */
export function apiKey({ accounts, now = Date.now }: { accounts: Accounts; now?: () => number }): Middleware<AppState> {
  const remembered = new Map<string, { account: Promise<AccountRecord | null>; until: number }>()

  function find(key: string): Promise<AccountRecord | null> {
    const known = remembered.get(key)
    if (known && known.until > now()) return known.account
    const account = accounts.findByKey(key, 'secret')
    remembered.delete(key)
    remembered.set(key, { account, until: now() + BELIEVED_MS })
    account.then(
      (found) => found ?? remembered.delete(key),
      () => remembered.delete(key),
    )
    if (remembered.size > REMEMBERED_KEYS) remembered.delete(remembered.keys().next().value ?? '')
    return account
  }

  return async function authenticate(ctx, next) {
    const sent = ctx.req.headersDistinct['x-api-key'] ?? []
    if (sent.length === 0 || sent.every((key) => key === '')) {
      throw new DrapeError('MISSING_API_KEY', 'Send your API key in the header x-api-key.')
    }
    const account = sent.length === 1 && isWellFormedKey(sent[0], 'secret') ? await find(sent[0]) : null
    if (!account) throw new DrapeError('INVALID_API_KEY', 'The API key is not valid.')
    ctx.state.account = account
    await next()
  }
}
