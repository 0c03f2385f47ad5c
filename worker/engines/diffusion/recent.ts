import type { KeptProducts } from '../engine.ts'

/** The values that were asked for last, by their keys. */
export interface Recent<T> {
  /** What is kept under the key, else what `make` makes of it, which is kept from then on. */
  get(key: string, make: () => Promise<T>): Promise<T>
  /** Drops what is kept under keys that begin so. */
  forget(prefix: string): void
  count(): number
}

/** Keeps as many values as fit into `bytes`, at least the last one; those not asked for the longest go first. */
export function keepRecent<T>(bytes: number, sizeOf: (value: T) => number): Recent<T> {
  const kept = new Map<string, T>()
  return {
    get: async (key, make) => {
      const value = kept.get(key) ?? (await make())
      // The first of the map is the one that was not asked for the longest.
      kept.delete(key)
      kept.set(key, value)
      let total = [...kept.values()].reduce((sum, each) => sum + sizeOf(each), 0)
      for (const [oldest, each] of kept) {
        if (total <= bytes || kept.size === 1) break
        kept.delete(oldest)
        total -= sizeOf(each)
      }
      return value
    },
    forget: (prefix) => {
      for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key)
    },
    count: () => kept.size,
  }
}

/** Several stores of what was made of products, each with keys that begin with the SHA-256 of a photo, as one. */
export function keptTogether(...stores: readonly KeptProducts[]): KeptProducts {
  return {
    count: () => stores.reduce((sum, store) => sum + store.count(), 0),
    forget: (garmentHash) => {
      for (const store of stores) store.forget(garmentHash)
    },
  }
}
