import { rememberBriefly } from '../brief-memory.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AccountRecord } from '../stores/accounts.ts'

const MB = 1024 * 1024
/** How long a sum is believed; bytes that are stored meanwhile through this process are added to it. */
const BELIEVED_MS = 15_000

/** Reserves room for bytes that are about to be stored. Throws `QUOTA_EXCEEDED` when the account would have more than its quota. */
export type ReserveStorage = (account: Pick<AccountRecord, 'id' | 'settings'>, bytes: number) => Promise<void>

/**
 * Limits the bytes that an account stores, at no cost for most requests: a sum from the database serves for 15 s. Several replicas
 * may together exceed a quota by what they store within that time.
 */
export function createStorageQuota({
  sumBytes,
  defaultBytes,
  now = Date.now,
}: {
  sumBytes: (accountId: string) => Promise<number>
  /** Of accounts without a quota of their own. */
  defaultBytes: number
  now?: () => number
}): ReserveStorage {
  const findUsage = rememberBriefly(async (accountId) => ({ stored: await sumBytes(accountId), added: 0 }), {
    now,
    ms: BELIEVED_MS,
  })
  return async ({ id, settings }, bytes) => {
    const quota = settings.storageMegabytes === undefined ? defaultBytes : settings.storageMegabytes * MB
    const usage = await findUsage(id)
    if (usage.stored + usage.added + bytes <= quota) {
      usage.added += bytes
      return
    }
    throw new DrapeError(
      'QUOTA_EXCEEDED',
      'The account stores as many bytes of images as it may. Delete images or products, or ask for a larger quota.',
    )
  }
}
