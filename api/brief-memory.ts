import { createCache } from './shared/cache.ts'

/** The longest time after which what was revoked is refused everywhere. */
const BELIEVED_MS = 3000
const MAX_REMEMBERED = 10_000

/**
 * Asks `find` once for what many ask for, and believes the answer for `ms` (3 s). Answers that `keep` does not want, and failures, are
 * forgotten at once.
 */
export function rememberBriefly<T>(
  find: (key: string) => Promise<T>,
  { keep = () => true, now, ms = BELIEVED_MS }: { keep?: (found: T) => boolean; now?: () => number; ms?: number } = {},
): (key: string) => Promise<T> {
  const remembered = createCache<Promise<T>>({ max: MAX_REMEMBERED, ms, now })
  return (key) => {
    const known = remembered.get(key)
    if (known) return known
    const found = find(key)
    remembered.set(key, found)
    const forget = () => remembered.get(key) === found && remembered.delete(key)
    found.then((answer) => keep(answer) || forget(), forget)
    return found
  }
}
