/** Who visits which page, as far as events carry it. */
export interface Visit {
  /** A UUID: the browser, while it remembers. */
  readonly clientId: string
  readonly sessionId: string
  readonly pageviewId: string
}

/** The visit of this page; without `isRemembered` nothing outlives the page but the limits of the service. */
export function readVisit(isRemembered: boolean): Visit {
  const kept = (storage: () => Storage, key: string) => {
    const found = isRemembered ? recall(storage, key) : null
    const id = found !== null && UUID.test(found) ? found : newId()
    if (isRemembered && id !== found) remember(storage, key, id)
    return id
  }
  return {
    clientId: kept(() => localStorage, 'drape:client'),
    sessionId: `sess_${kept(() => sessionStorage, 'drape:session')}`,
    pageviewId: PAGEVIEWS.idOf(location.href),
  }
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** All elements of a page are seen in one view of it, whatever the pages of a single-page shop do with them. */
const PAGEVIEWS = createPageviews()

function createPageviews() {
  let seen = { href: '', id: '' }
  return {
    idOf: (href: string): string => {
      if (seen.href !== href) seen = { href, id: newId() }
      return seen.id
    },
  }
}

/** A UUID, also on pages without TLS, where browsers make none. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** What a storage holds; null when it holds nothing or may not be used. */
export function recall(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key)
  } catch {
    return null
  }
}

/** Keeps a text where that is allowed. An empty one is forgotten. */
export function remember(storage: () => Storage, key: string, text: string): void {
  try {
    if (text === '') storage().removeItem(key)
    else storage().setItem(key, text)
  } catch {
    // Full, or forbidden: then it is not kept.
  }
}
