import { LRUCache } from 'lru-cache'

export interface CacheOptions {
  /** Entries to keep at most; the ones that were used longest ago go first. */
  readonly max: number
  /** The time after which an entry is gone, since it was set, in ms, at least 2; default: none. */
  readonly ms?: number
  /** ms; default `Date.now`. */
  readonly now?: () => number
  /** Called with the key of an entry that others have taken the place of. */
  readonly onEvict?: (key: string) => void
}

export type Cache<V extends object | string | number | boolean> = Pick<
  LRUCache<string, V>,
  'get' | 'has' | 'set' | 'delete' | 'entries' | 'size'
>

/** The entries that were used last. Its memory does not grow with the number of different keys that callers make up. */
export function createCache<V extends object | string | number | boolean>({
  max,
  ms,
  now = Date.now,
  onEvict,
}: CacheOptions): Cache<V> {
  return new LRUCache<string, V>({
    max,
    // The package keeps an entry 1 ms longer, takes 0 for no time at all, and by default does not read the clock each time.
    ...(ms !== undefined && { ttl: ms - 1, ttlResolution: 0, perf: { now: () => 1 + now() } }),
    ...(onEvict && { dispose: (_, key, reason) => reason === 'evict' && onEvict(key) }),
  })
}
