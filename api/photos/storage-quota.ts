import { DEFAULT_STORAGE_MEGABYTES } from '../accounts/account-settings.ts'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { cacheBriefly } from '../shared/process/brief-cache.ts'

const MB = 1024 * 1024
/** Lifetime of a cached sum; bytes that this process stores meanwhile are added to it. */
const CACHE_MS = 15_000

/**
 * Reserves quota for bytes and stores them. Returns what `store` returns; when it throws, the bytes are available again.
 * Throws `QUOTA_EXCEEDED` when the account would exceed its quota.
 */
export type ReserveStorage = <T>(
  account: Pick<AccountRecord, 'id' | 'settings'>,
  bytes: number,
  store: () => Promise<T>,
) => Promise<T>

/**
 * Limits the bytes that an account stores. Most requests use a sum from the database that is cached for 15 s. Several
 * replicas may together exceed a quota by what they store within that time.
 */
export function createStorageQuota({
  sumBytes,
  now = Date.now,
}: {
  sumBytes: (accountId: string) => Promise<number>
  now?: () => number
}): ReserveStorage {
  const findUsage = cacheBriefly(async (accountId) => ({ stored: await sumBytes(accountId), added: 0 }), {
    now,
    ms: CACHE_MS,
  })
  return async ({ id, settings }, bytes, store) => {
    const quota = (settings.storageMegabytes ?? DEFAULT_STORAGE_MEGABYTES) * MB
    const usage = await findUsage(id)
    if (usage.stored + usage.added + bytes > quota) {
      throw new DrapeError(
        'QUOTA_EXCEEDED',
        'The account has reached its storage quota for images. Delete images or products, or ask for a larger quota.',
      )
    }
    usage.added += bytes
    try {
      return await store()
    } catch (error) {
      usage.added -= bytes
      throw error
    }
  }
}
