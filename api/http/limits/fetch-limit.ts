import type { FetchImage } from '../../shared/network/fetch-image.ts'
import { createLanes, type Lanes } from './account-limiter.ts'

export type FetchForAccount = (url: string, accountId: string) => Promise<Buffer>

/**
 * Limits the fetches of each account to 10 concurrent ones in this process, so that slow hosts of one account do not
 * affect other accounts.
 */
export function createFetchLanes({ maxConcurrent = 10, maxWaiting = 40, maxWaitMs = 10_000 } = {}): Lanes {
  const message = 'Too many images of the account are being fetched. Try again later.'
  return createLanes({ maxConcurrent, maxWaiting, maxWaitMs, message })
}

/** Fetches in the lane of the account. Throws `RATE_LIMITED` when the lane is full. */
export function limitFetches(fetchImage: FetchImage, lanes: Lanes): FetchForAccount {
  return (url, accountId) => lanes(accountId, () => fetchImage(url))
}
