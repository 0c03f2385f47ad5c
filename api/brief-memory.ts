/** The longest time after which what was revoked is refused everywhere. */
const BELIEVED_MS = 3000
const MAX_REMEMBERED = 10_000

/**
 * Asks `find` once for what many ask for, and believes the answer for `ms` (3 s). Answers that `keep` does not want, and failures, are
 * forgotten at once.
 */
export function rememberBriefly<T>(
  find: (key: string) => Promise<T>,
  { keep = () => true, now, ms = BELIEVED_MS }: { keep?: (found: T) => boolean; now: () => number; ms?: number },
): (key: string) => Promise<T> {
  const remembered = new Map<string, { found: Promise<T>; until: number }>()
  return (key) => {
    const known = remembered.get(key)
    if (known && known.until > now()) return known.found
    const found = find(key)
    remembered.delete(key)
    remembered.set(key, { found, until: now() + ms })
    found.then(
      (answer) => keep(answer) || remembered.delete(key),
      () => remembered.delete(key),
    )
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? '')
    return found
  }
}
