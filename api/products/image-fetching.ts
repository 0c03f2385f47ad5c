import type { Accounts } from '../accounts/accounts.store.ts'
import type { FetchForAccount } from '../http/limits/fetch-limit.ts'
import type { ReserveStorage } from '../photos/storage-quota.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { keyOfFetched, storeFetched } from '../shared/image/fetched-product-image.ts'
import { type OutboxConsumer, startOutboxConsumer } from '../shared/queue/outbox-consumer.ts'
import { nextAttempt } from '../shared/queue/retry.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/storage/objects.store.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import type { ClaimedImage, ProductBatches } from './product-batches.store.ts'

export interface ImageFetchingOptions {
  readonly batches: ProductBatches
  readonly accounts: Pick<Accounts, 'find'>
  readonly objects: Objects
  readonly storage: ObjectStorage
  /** Throws `PRODUCT_IMAGE_FETCH_FAILED`, or `RATE_LIMITED` while calls of the account are at its limit. */
  readonly fetchImage: FetchForAccount
  readonly reserveStorage: ReserveStorage
  readonly log: Log
  readonly metrics: Metrics
}

/** Maximum concurrent images in this process. */
const SLOTS = 8
/** Maximum concurrent images per account, so that calls of the account find room within its limit. */
const PER_ACCOUNT = 4
/** Exceeds the duration of a fetch, its wait and its storing. */
const LEASE_SECONDS = 120
const IDLE_MS = 1000
/** While the database is unavailable. */
const DATABASE_PAUSE_MS = 3000
const RETRY = { seconds: [2, 30] }
/** Retry delay while calls of the account are at its limit; this does not count as a failure of the image. */
const BUSY_SECONDS = 2

/**
 * Fetches images of batches in the background, so that the first try-on does not wait for them. Any number of processes
 * may run concurrently; each claims different images.
 */
export function startImageFetching(options: ImageFetchingOptions): OutboxConsumer {
  const { batches, log } = options
  return startOutboxConsumer({
    name: 'image of batch',
    log,
    concurrency: SLOTS,
    idleMs: IDLE_MS,
    failureMs: DATABASE_PAUSE_MS,
    claim: async ({ limit, inFlight }) => {
      const items = await batches.claimImages({
        limit,
        perAccount: PER_ACCOUNT,
        leaseSeconds: LEASE_SECONDS,
        inFlight,
      })
      if (items.length === 0 && Object.keys(inFlight).length === 0) await batches.endFetched()
      return { items }
    },
    keyOf: ({ accountId }) => accountId,
    handle: (image, { signal }) => fetchOne(image, signal, options),
  })
}

async function fetchOne(image: ClaimedImage, signal: AbortSignal, options: ImageFetchingOptions): Promise<void> {
  const { batches, log } = options
  const { batchId, attempts } = image
  try {
    if (signal.aborted) return await batches.delayImage(image, 0)
    const state = image.isCurrent ? 'fetched' : 'replaced'
    if (image.isCurrent) await storeOne(image, options)
    await batches.endImage(image, { state })
  } catch (error) {
    const { code, isFinal } = readFailure(error)
    const next = nextAttempt({ failures: attempts - 1 }, RETRY)
    const delay = next ?? (code === 'RATE_LIMITED' ? BUSY_SECONDS : null)
    const isOver = isFinal || delay === null
    log[isOver ? 'debug' : 'info']({ err: error, batchId, attempts }, 'fetching an image of a batch failed')
    const ending = isOver ? batches.endImage(image, { state: 'failed', code }) : batches.delayImage(image, delay)
    // Otherwise the lease expires, and the image is claimed again.
    await ending.catch((err) => log.warn({ err, batchId }, 'image expiry not recorded'))
  }
}

async function storeOne(image: ClaimedImage, { accounts, objects, storage, ...options }: ImageFetchingOptions) {
  if ((await objects.find(keyOfFetched(image))) !== null) return
  const account = await accounts.find(image.accountId)
  if (account === null) throw new DrapeError('ACCOUNT_NOT_FOUND', 'The account does not exist.')
  await storeFetched(image, {
    storage,
    objects,
    fetchImage: (url) => options.fetchImage(url, image.accountId),
    reserve: (bytes, store) => options.reserveStorage(account, bytes, store),
  })
}

/**
 * To callers, a URL without an image is a failed fetch. Exceeding the quota is final: a quota does not grow within a
 * minute.
 */
function readFailure(error: unknown): { code: string; isFinal: boolean } {
  if (!(error instanceof DrapeError)) return { code: 'INTERNAL_ERROR', isFinal: false }
  const { code, retryable } = error
  if (code === 'INVALID_IMAGE' || code === 'UNSUPPORTED_IMAGE_TYPE') {
    return { code: 'PRODUCT_IMAGE_FETCH_FAILED', isFinal: true }
  }
  return { code, isFinal: !retryable && code !== 'PRODUCT_IMAGE_FETCH_FAILED' }
}
