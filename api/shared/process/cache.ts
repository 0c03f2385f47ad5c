import { LRUCache } from 'lru-cache'

export interface CacheOptions {
  /** Maximum number of entries; the least recently used entries are evicted first. */
  readonly max: number
  /** Lifetime of an entry since it was set, in ms, at least 2. Default: unlimited. */
  readonly ms?: number
  /** Clock in ms. Default `Date.now`. */
  readonly now?: () => number
  /** Called with the key of an entry that was evicted to make room. */
  readonly onEvict?: (key: string) => void
}

export type Cache<V extends object | string | number | boolean> = Pick<
  LRUCache<string, V>,
  'get' | 'has' | 'set' | 'delete' | 'entries' | 'size'
>

/** Least-recently-used cache. Its memory does not grow with the number of different keys that callers send. */
export function createCache<V extends object | string | number | boolean>({
  max,
  ms,
  now = Date.now,
  onEvict,
}: CacheOptions): Cache<V> {
  return new LRUCache<string, V>({
    // `max` would allocate all entries at once, about 130 ms of each start of the API.
    maxSize: max,
    sizeCalculation: () => 1,
    // lru-cache keeps an entry 1 ms longer, treats 0 as unlimited, and by default does not read the clock each time.
    ...(ms !== undefined && { ttl: ms - 1, ttlResolution: 0, perf: { now: () => 1 + now() } }),
    ...(onEvict && { dispose: (_, key, reason) => reason === 'evict' && onEvict(key) }),
  })
}
