import { DrapeError } from '../../shared/contract/errors.ts'
import { createCache } from '../../shared/process/cache.ts'

/** Ten photos of the maximum size. */
const MAX_BYTES = 100 * 1024 * 1024
const MAX_ADDRESSES = 10_000
/** After this time, a sweep has deleted an incomplete upload. */
const KEPT_MS = 3_600_000

interface ArrivedUpload {
  /** Keyed hash of the network address that sends the bytes. */
  readonly address: string
  readonly objectKey: string
  readonly bytes: number
}

/** Throws `RATE_LIMIT_EXCEEDED` if the address would have more than 100 MB in incomplete uploads with these bytes. */
export type AssertFewIncomplete = (upload: ArrivedUpload) => Promise<void>

/**
 * Limits the bytes in storage that a network address sent by upload links and never completed: strangers must not use
 * up the storage quota of an account. Each API process remembers the uploads of an address; the database knows which of
 * them are complete by now.
 */
export function createIncompleteUploads(
  sumBytes: (objectKeys: readonly string[]) => Promise<number>,
): AssertFewIncomplete {
  const uploads = createCache<Map<string, number>>({ max: MAX_ADDRESSES, ms: KEPT_MS })
  return async ({ address, objectKey, bytes }) => {
    const now = Date.now()
    const known = [...(uploads.get(address) ?? [])].filter(([, at]) => now - at < KEPT_MS)
    const others = known.filter(([key]) => key !== objectKey)
    if (others.length > 0 && (await sumBytes(others.map(([key]) => key))) + bytes > MAX_BYTES) {
      throw new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'Too many uploads of this network address are incomplete. Call upload-complete, or send the photo again later.',
        { retryable: true, retryAfterSeconds: 60 },
      )
    }
    uploads.set(address, new Map([...known, [objectKey, now]]))
  }
}
