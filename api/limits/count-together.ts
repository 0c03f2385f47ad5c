import { createCache } from '../shared/cache.ts'

export interface Counted {
  /** Of the requests so far, this one included. */
  readonly total: number
  /** Until they are counted from nothing again. */
  readonly resetSeconds: number
}

interface Batch<C> {
  requests: number
  counted: Promise<C>
}

/** Requests that were counted before they came. */
interface Reserve<C> {
  left: number
  /** Of all of them. */
  readonly counted: C
}

/** A reserve that is not used up by then is forgotten; what it held stays counted. */
const RESERVE_MS = 100
/** How many more are counted for each request of a batch. */
const RESERVE_PER_REQUEST = 8
const MAX_RESERVES = 1000

/**
 * Counts one request of a caller; those that come while the caller's counter is being asked are counted at once, by its next
 * answer. Each hears the same total as if every request had been counted alone, in the order in which they came.
 *
 * When several came together more are about to: up to `maxAhead` of them are counted in advance, so that a caller in a hurry
 * does not cost a question each. Those that do not come are counted all the same, so use 0 where the count must be exact.
 */
export function countTogether<C extends { readonly total: number }>(
  count: (id: string, requests: number) => Promise<C>,
  { maxAhead = 0, now }: { maxAhead?: number; now?: () => number } = {},
): (id: string) => Promise<C> {
  const reserves = createCache<Reserve<C>>({ max: MAX_RESERVES, ms: RESERVE_MS, now })
  /** Those that can still be joined. */
  const gathering = new Map<string, Batch<C>>()
  const asked = new Map<string, Promise<unknown>>()

  async function askAfter(last: Promise<unknown> | undefined, id: string): Promise<C> {
    await last?.catch(() => {})
    const requests = gathering.get(id)?.requests ?? 0
    gathering.delete(id)
    const ahead = requests > 1 ? Math.min(maxAhead, requests * RESERVE_PER_REQUEST) : 0
    const counted = await count(id, requests + ahead)
    if (ahead > 0) reserves.set(id, { left: ahead, counted })
    return { ...counted, total: counted.total - ahead }
  }

  function takeReserve(id: string): C | null {
    const reserve = reserves.get(id)
    if (!reserve || reserve.left === 0) return null
    reserve.left--
    return { ...reserve.counted, total: reserve.counted.total - reserve.left }
  }

  function gather(id: string): Batch<C> {
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
    const counted = await batch.counted
    return { ...counted, total: counted.total - batch.requests + place }
  }
}
