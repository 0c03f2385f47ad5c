import { createCache } from '../api/shared/cache.ts'
import type { ObjectStorage } from '../api/shared/storage/object.ts'

/** The bytes of a logo, or null when there is no such object. */
export type LoadLogo = (key: string) => Promise<Uint8Array | null>

/** Loads logos from the storage and keeps the ones used last. A key names its bytes for ever, so none becomes stale. */
export function createLogoLoader(storage: Pick<ObjectStorage, 'get'>, { keep = 32 }: { keep?: number } = {}): LoadLogo {
  const kept = createCache<Uint8Array>({ max: keep })
  return async (key) => {
    const bytes = kept.get(key) ?? (await storage.get(key))
    if (!bytes) return null
    kept.set(key, bytes)
    return bytes
  }
}
