/** The values that were asked for last, by their keys. */
export interface Recent<T> {
  /** What is kept under the key, else what `make` makes of it, which is kept from then on. */
  get(key: string, make: () => Promise<T>): Promise<T>
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
  }
}
