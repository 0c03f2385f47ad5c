import { isWellFormedKey, type KeyKind } from './credentials.ts'
import type { AccountRecord, Accounts } from './stores/accounts.ts'

/** How long a looked-up key may be believed: the longest time after which a revoked one is refused everywhere. */
const BELIEVED_MS = 3000
const REMEMBERED_KEYS = 10_000

/** The active account that a live key belongs to. */
export type KeyLookup = (key: string) => Promise<AccountRecord | null>

/** Looks keys of one kind up, and remembers for a few seconds whom they belong to. */
export function createKeyLookup({
  accounts,
  kind,
  now = Date.now,
}: {
  accounts: Pick<Accounts, 'findByKey'>
  kind: KeyKind
  now?: () => number
}): KeyLookup {
  const remembered = new Map<string, { account: Promise<AccountRecord | null>; until: number }>()

  return async (key) => {
    if (!isWellFormedKey(key, kind)) return null
    const known = remembered.get(key)
    if (known && known.until > now()) return known.account
    const account = accounts.findByKey(key, kind)
    remembered.delete(key)
    remembered.set(key, { account, until: now() + BELIEVED_MS })
    account.then(
      (found) => found ?? remembered.delete(key),
      () => remembered.delete(key),
    )
    if (remembered.size > REMEMBERED_KEYS) remembered.delete(remembered.keys().next().value ?? '')
    return account
  }
}
