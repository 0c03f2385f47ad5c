import { createCache } from '../../shared/process/cache.ts'

export interface Counted {
  /** Total of the points so far, including those of this request. */
  readonly total: number
  /** Seconds until the count restarts at 0. */
  readonly resetSeconds: number
}

interface Batch<C> {
  requests: number
  /** Of all its requests. */
  points: number
  counted: Promise<C>
}

/** Points that were counted in advance. */
interface Reserve<C> {
  left: number
  /** Count including the whole reserve. */
  readonly counted: C
}

/** Lifetime of a reserve; unused points stay counted. */
const RESERVE_MS = 100
/** Points counted in advance per request of a batch. */
const RESERVE_PER_REQUEST = 8
const MAX_RESERVES = 1000

/**
 * Counts one request of a caller, of 1 or more points. Requests that arrive while the counter is being called are counted together
 * by its next call. Each gets the same total as if every request had been counted separately, in order of arrival.
 *
 * Concurrent requests of 1 point are likely to be followed by more, so up to `maxAhead` are counted in advance, to save
 * calls for a busy caller. Requests that do not follow stay counted, so use 0 where the count must be exact.
 */
export function countTogether<C extends { readonly total: number }>(
  count: (id: string, points: number) => Promise<C>,
  { maxAhead = 0, now }: { maxAhead?: number; now?: () => number } = {},
): (id: string, points?: number) => Promise<C> {
  const reserves = createCache<Reserve<C>>({ max: MAX_RESERVES, ms: RESERVE_MS, now })
  /** Batches that can still be joined. */
  const gathering = new Map<string, Batch<C>>()
  const asked = new Map<string, Promise<unknown>>()

  async function countAfter(last: Promise<unknown> | undefined, id: string): Promise<C> {
    await last?.catch(() => {})
    const { requests, points } = gathering.get(id) ?? { requests: 0, points: 0 }
    gathering.delete(id)
    const ahead = requests > 1 && points === requests ? Math.min(maxAhead, requests * RESERVE_PER_REQUEST) : 0
    const counted = await count(id, points + ahead)
    if (ahead > 0) reserves.set(id, { left: ahead, counted })
    return { ...counted, total: counted.total - ahead }
  }

  function takeReserve(id: string, points: number): C | null {
    const reserve = reserves.get(id)
    if (!reserve || reserve.left < points) return null
    reserve.left -= points
    return { ...reserve.counted, total: reserve.counted.total - reserve.left }
  }

  function gather(id: string): Batch<C> {
    const counted = countAfter(asked.get(id), id)
    const evict = () => asked.get(id) === counted && asked.delete(id)
    counted.then(evict, evict)
    asked.set(id, counted)
    const batch = { requests: 0, points: 0, counted }
    gathering.set(id, batch)
    return batch
  }

  return async (id, points = 1) => {
    const reserved = takeReserve(id, points)
    if (reserved) return reserved
    const batch = gathering.get(id) ?? gather(id)
    batch.requests++
    batch.points += points
    const place = batch.points
    const counted = await batch.counted
    return { ...counted, total: counted.total - batch.points + place }
  }
}
