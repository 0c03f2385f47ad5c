import { createCache } from '../../api/shared/process/cache.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'

/** Loads the bytes of a logo; null if the object does not exist. */
export type LoadLogo = (key: string) => Promise<Uint8Array | null>

/** Loads logos from the storage with a least-recently-used cache. Keys are content-addressed, so entries never become stale. */
export function createLogoLoader(storage: Pick<ObjectStorage, 'get'>, { keep = 32 }: { keep?: number } = {}): LoadLogo {
  const kept = createCache<Uint8Array>({ max: keep })
  return async (key) => {
    const bytes = kept.get(key) ?? (await storage.get(key))
    if (!bytes) return null
    kept.set(key, bytes)
    return bytes
  }
}
