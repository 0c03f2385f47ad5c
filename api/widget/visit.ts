/** Identity of the visit in events. */
export interface Visit {
  /** UUID of the browser, as long as it is stored. */
  readonly clientId: string
  readonly sessionId: string
  readonly pageviewId: string
}

/** The visit of this page; without `isRemembered` no data outlives the page except the limits of the service. */
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

/** All elements of a page share one page view, also in single-page shops. */
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

/** A UUID, also on pages without TLS, where `crypto.randomUUID` is missing. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Reads a stored text; null when there is none or storage is blocked. */
export function recall(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key)
  } catch {
    return null
  }
}

/** Stores a text if storage is allowed. An empty text is deleted. */
export function remember(storage: () => Storage, key: string, text: string): void {
  try {
    if (text === '') storage().removeItem(key)
    else storage().setItem(key, text)
  } catch {
    // Storage is full or blocked: do not store.
  }
}
