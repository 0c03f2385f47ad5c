const PLACE = 'drape-key'

/** Holds the key in the memory of the page; in the tab's own storage only for those who ask for it. */
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

/** Browsers that keep nothing throw where others have a storage. */
function openStorage() {
  try {
    return window.sessionStorage
  } catch {
    return null
  }
}
