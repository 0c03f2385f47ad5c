import type { FetchImage } from '../../shared/network/fetch-image.ts'
import { type AccountLimiter, createAccountLimiter } from './account-limiter.ts'

export type FetchForAccount = (url: string, accountId: string) => Promise<Buffer>

/**
 * Limits the fetches of each account to 10 concurrent ones in this process, so that slow hosts of one account do not
 * affect other accounts.
 */
export function createFetchLimiter({ maxConcurrent = 10, maxWaiting = 40, maxWaitMs = 10_000 } = {}): AccountLimiter {
  const message = 'Too many images of the account are being fetched. Try again later.'
  return createAccountLimiter({ maxConcurrent, maxWaiting, maxWaitMs, message })
}

/** Fetches within the limit of the account. Throws `RATE_LIMITED` at the limit. */
export function limitFetches(fetchImage: FetchImage, limiter: AccountLimiter): FetchForAccount {
  return (url, accountId) => limiter(accountId, () => fetchImage(url))
}
