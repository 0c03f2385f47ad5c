import type { EvictableCache } from '../engine.ts'

/** A least-recently-used cache. */
export interface LruCache<T> {
  /** Returns the cached value, or calls `make` and caches the result. */
  get(key: string, make: () => Promise<T>): Promise<T>
  /** Evicts all keys with this prefix. */
  evict(prefix: string): void
  count(): number
}

/** A cache of at most `bytes` (at least one value); evicts the least recently used value first. */
export function createLruCache<T>(bytes: number, sizeOf: (value: T) => number): LruCache<T> {
  const cache = new Map<string, T>()
  return {
    get: async (key, make) => {
      const value = cache.get(key) ?? (await make())
      // The first key of the map is the least recently used.
      cache.delete(key)
      cache.set(key, value)
      let total = [...cache.values()].reduce((sum, each) => sum + sizeOf(each), 0)
      for (const [oldest, each] of cache) {
        if (total <= bytes || cache.size === 1) break
        cache.delete(oldest)
        total -= sizeOf(each)
      }
      return value
    },
    evict: (prefix) => {
      for (const key of cache.keys()) if (key.startsWith(prefix)) cache.delete(key)
    },
    count: () => cache.size,
  }
}

/** Combines several garment caches, whose keys begin with the SHA-256 of a photo, into one. */
export function combineCaches(...stores: readonly EvictableCache[]): EvictableCache {
  return {
    count: () => stores.reduce((sum, store) => sum + store.count(), 0),
    evict: (garmentHash) => {
      for (const store of stores) store.evict(garmentHash)
    },
  }
}
