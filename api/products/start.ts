import type { Accounts } from '../accounts/accounts.store.ts'
import type { Connections } from '../config.ts'
import { createAccountLimiter } from '../http/limits/account-limiter.ts'
import type { Photos } from '../photos/start.ts'
import { startImageFetching } from './image-fetching.ts'
import { createProductBatches } from './product-batches.store.ts'
import { createProducts } from './products.store.ts'

const BUSY = 'Too many product batches are in progress. Send the batch again after the seconds in Retry-After.'

export type Products = ReturnType<typeof startProducts>

/** Creates the catalogue, and fetches the images of batches in the background. */
export function startProducts(
  { database, storage, lifecycle, log, metrics }: Connections,
  { accounts, objects, reserveStorage, fetchProductImage }: Photos & { readonly accounts: Accounts },
) {
  const products = createProducts(database)
  const batches = createProductBatches(database)
  const fetching = startImageFetching({
    batches,
    accounts,
    objects,
    storage,
    reserveStorage,
    log,
    metrics,
    fetchImage: fetchProductImage,
  })
  lifecycle.onStop('images of batches', () => fetching.stop())
  const ofAccount = createAccountLimiter({ maxConcurrent: 1, maxWaiting: 4, maxWaitMs: 20_000, message: BUSY })
  const ofAll = createAccountLimiter({ maxConcurrent: 2, maxWaiting: 40, maxWaitMs: 20_000, message: BUSY })
  const limitBatches: typeof ofAccount = (accountId, work) => ofAccount(accountId, () => ofAll('all', work))
  return {
    products,
    findProduct: products.find,
    batches,
    limitBatches,
  }
}
