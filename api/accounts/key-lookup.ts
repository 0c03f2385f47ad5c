import { DrapeError } from '../shared/contract/errors.ts'
import { createRangeRule, readableAddress } from '../shared/network/addresses.ts'
import { cacheBriefly } from '../shared/process/brief-cache.ts'
import type { ApiKeys, FoundKey } from './api-keys.store.ts'
import { isWellFormedKey, type KeyKind } from './credentials.ts'
import type { KeyUses } from './key-uses.ts'

/**
 * The live key and its active account; null for any other key. Throws `INVALID_API_KEY` when the key has expired or is
 * not allowed from this address.
 */
export type KeyLookup = (key: string, address: string) => Promise<FoundKey | null>

/** Looks up keys of one kind and caches them for a few seconds. Expiry and address are checked on every request. */
export function createKeyLookup({
  keys,
  kind,
  uses,
  now = Date.now,
}: {
  keys: Pick<ApiKeys, 'find'>
  kind: KeyKind
  uses?: Pick<KeyUses, 'note'>
  now?: () => number
}): KeyLookup {
  const findKey = async (key: string) => {
    // Read before the database computes the remaining lifetime, so that a slow response does not extend the key.
    const askedAt = now()
    const found = await keys.find(key, kind)
    if (found === null) return null
    const { expiresInMs, allowedCidrs } = found.key
    return {
      found,
      expiresAt: expiresInMs === null ? Number.POSITIVE_INFINITY : askedAt + expiresInMs,
      isAllowed: allowedCidrs === null ? () => true : createRangeRule(allowedCidrs),
    }
  }
  // Unknown keys are not cached: they may be created at any moment.
  const find = cacheBriefly(findKey, { keep: (known) => known !== null, now })
  return async (key, address) => {
    const known = isWellFormedKey(key, kind) ? await find(key) : null
    if (known === null) return null
    if (known.expiresAt <= now()) throw invalid('The key has expired. Use another key.')
    if (!known.isAllowed(address))
      throw invalid(`The key is not allowed from the IP address ${readableAddress(address)}.`)
    uses?.note(known.found.key.id)
    return known.found
  }
}

function invalid(message: string): DrapeError {
  return new DrapeError('INVALID_API_KEY', message)
}
