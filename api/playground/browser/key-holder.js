const PLACE = 'drape-key'

/** Holds the key in the memory of the page, and in the tab's session storage only if the user chose so. */
export function createKeyHolder(storage = openStorage()) {
  let key = storage?.getItem(PLACE) ?? null
  return {
    get: () => key,
    isKept: () => storage?.getItem(PLACE) != null,
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

/** Browsers with disabled storage throw on access. */
function openStorage() {
  try {
    return window.sessionStorage
  } catch {
    return null
  }
}
