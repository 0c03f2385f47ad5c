import { createCache } from './cache.ts'

/** Maximum time until a revocation is effective on all replicas. */
const CACHE_MS = 3000
const MAX_CACHED = 10_000

/**
 * Caches the results of `find` for `ms` (default 3 s) and shares concurrent calls. Results that `keep` rejects, and
 * failures, are evicted immediately.
 */
export function cacheBriefly<T>(
  find: (key: string) => Promise<T>,
  { keep = () => true, now, ms = CACHE_MS }: { keep?: (found: T) => boolean; now?: () => number; ms?: number } = {},
): (key: string) => Promise<T> {
  const cache = createCache<Promise<T>>({ max: MAX_CACHED, ms, now })
  return (key) => {
    const cached = cache.get(key)
    if (cached) return cached
    const found = find(key)
    cache.set(key, found)
    const evict = () => cache.get(key) === found && cache.delete(key)
    found.then((answer) => keep(answer) || evict(), evict)
    return found
  }
}
