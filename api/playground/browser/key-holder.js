const PLACE = 'drape-key'

/** Holds the key in the memory of the page, and in the tab's session storage only if the user chose so. */
export function createKeyHolder(storage = openStorage()) {
  const given = takeFromAddress()
  if (given !== null) storage?.setItem(PLACE, given)
  let key = given ?? storage?.getItem(PLACE) ?? null
  return {
    get: () => key,
    set: (given, { keep }) => {
      key = given
      if (keep) storage?.setItem(PLACE, given)
      else storage?.removeItem(PLACE)
    },
    forget: () => {
      key = null
      storage?.removeItem(PLACE)
    },
  }
}

/**
 * The key that `scripts/demo --open` puts behind `#`, which browsers send to no server. Only on this machine: elsewhere a link
 * could make someone upload photos to the account of another.
 */
function takeFromAddress() {
  const [, key = null] = /^#key=(\w+)$/.exec(globalThis.location?.hash ?? '') ?? []
  if (key === null || !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname)) return null
  window.history.replaceState(null, '', location.pathname)
  return key
}

/** Browsers with disabled storage throw on access. */
function openStorage() {
  try {
    return window.sessionStorage
  } catch {
    return null
  }
}
