export interface Counted {
  /** Of the requests so far, this one included. */
  readonly total: number
  /** Until they are counted from nothing again. */
  readonly resetSeconds: number
}

interface Batch {
  requests: number
  counted: Promise<Counted>
}

/** Requests that were counted before they came. */
interface Reserve {
  left: number
  /** Of all of them. */
  readonly counted: Counted
  readonly until: number
}

/** A reserve that is not used up by then is forgotten; what it held stays counted. */
const RESERVE_MS = 100
/** How many more are counted for each request of a batch. */
const RESERVE_PER_REQUEST = 8
const MOST_RESERVES = 1000

/**
 * Counts one request of a caller; those that come while the caller's counter is being asked are counted at once, by its next
 * answer. Each hears the same total as if every request had been counted alone, in the order in which they came.
 *
 * When several came together more are about to: up to `mostAhead` of them are counted in advance, so that a caller in a hurry
 * does not cost a question each. Those that do not come are counted all the same, so 0 is for whoever must be counted exactly.
 */
export function countTogether(
  count: (id: string, requests: number) => Promise<Counted>,
  { mostAhead = 0, now = Date.now }: { mostAhead?: number; now?: () => number } = {},
): (id: string) => Promise<Counted> {
  const reserves = new Map<string, Reserve>()
  /** Those that can still be joined. */
  const gathering = new Map<string, Batch>()
  const asked = new Map<string, Promise<unknown>>()

  async function askAfter(last: Promise<unknown> | undefined, id: string): Promise<Counted> {
    await last?.catch(() => {})
    const requests = gathering.get(id)?.requests ?? 0
    gathering.delete(id)
    const ahead = requests > 1 ? Math.min(mostAhead, requests * RESERVE_PER_REQUEST) : 0
    const { total, resetSeconds } = await count(id, requests + ahead)
    if (ahead > 0) {
      if (reserves.size >= MOST_RESERVES) reserves.clear()
      reserves.set(id, { left: ahead, counted: { total, resetSeconds }, until: now() + RESERVE_MS })
    }
    return { total: total - ahead, resetSeconds }
  }

  function takeReserve(id: string): Counted | null {
    const reserve = reserves.get(id)
    if (!reserve) return null
    if (reserve.left === 0 || reserve.until <= now()) {
      reserves.delete(id)
      return null
    }
    reserve.left--
    return { total: reserve.counted.total - reserve.left, resetSeconds: reserve.counted.resetSeconds }
  }

  function gather(id: string): Batch {
    const counted = askAfter(asked.get(id), id)
    const forget = () => asked.get(id) === counted && asked.delete(id)
    counted.then(forget, forget)
    asked.set(id, counted)
    const batch = { requests: 0, counted }
    gathering.set(id, batch)
    return batch
  }

  return async (id) => {
    const reserved = takeReserve(id)
    if (reserved) return reserved
    const batch = gathering.get(id) ?? gather(id)
    batch.requests++
    const place = batch.requests
    const { total, resetSeconds } = await batch.counted
    return { total: total - batch.requests + place, resetSeconds }
  }
}
