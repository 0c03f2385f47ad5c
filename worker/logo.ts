import type { ObjectStorage } from '../api/shared/storage/object.ts'

/** The bytes of a logo, or null when there is no such object. */
export type LoadLogo = (key: string) => Promise<Uint8Array | null>

/** Loads logos from the storage and keeps the ones used last. A key names its bytes for ever, so none becomes stale. */
export function createLogoLoader(storage: Pick<ObjectStorage, 'get'>, { keep = 32 }: { keep?: number } = {}): LoadLogo {
  const kept = new Map<string, Uint8Array>()
  return async (key) => {
    const bytes = kept.get(key) ?? (await storage.get(key))
    if (!bytes) return null
    // The order of a Map is that of insertion: the first is the one not used for longest.
    kept.delete(key)
    kept.set(key, bytes)
    const [oldest] = kept.keys()
    if (kept.size > keep) kept.delete(oldest)
    return bytes
  }
}
