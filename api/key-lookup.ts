import { rememberBriefly } from './brief-memory.ts'
import { isWellFormedKey, type KeyKind } from './credentials.ts'
import type { AccountRecord, Accounts } from './stores/accounts.ts'

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
  // A key that nobody has is not worth remembering: it may be made in a moment.
  const find = rememberBriefly((key) => accounts.findByKey(key, kind), { keep: (account) => account !== null, now })
  return async (key) => (isWellFormedKey(key, kind) ? find(key) : null)
}
