import { createCache } from '../../shared/process/cache.ts'
import type { Counted } from './count-together.ts'

/** Maximum number of IDs; the least recently counted ones are evicted first. */
const MAX_IDS = 20_000

interface Count {
  total: number
  /** Requests of this replica that the shared counter is missing. */
  owed: number
  /** ms since 1970. */
  endsAt: number
}

/** Local copy of each ID's window, used while the shared counter does not respond. */
export function createLastCounts({ seconds, now }: { readonly seconds: number; readonly now: () => number }) {
  const counts = createCache<Count>({ max: MAX_IDS })

  function find(id: string): Count | undefined {
    const count = counts.get(id)
    if (count === undefined || count.endsAt > now()) return count
    counts.delete(id)
    return undefined
  }

  function keep(id: string, count: Count): Counted {
    counts.set(id, count)
    return { total: count.total, resetSeconds: Math.max(1, Math.ceil((count.endsAt - now()) / 1000)) }
  }

  return {
    /** Requests that the shared counter is missing; they count as added from now on. */
    takeOwed: (id: string): number => {
      const count = find(id)
      if (count === undefined) return 0
      const { owed } = count
      count.owed = 0
      return owed
    },

    /** Records a response of the shared counter: its total, and the ms until its window ends. */
    note: (id: string, { total, ms }: { readonly total: number; readonly ms: number }): Counted => {
      const known = find(id) ?? { total: 0, owed: 0, endsAt: now() + ms }
      // A counter that lost data must not reopen a spent window.
      return keep(id, { ...known, total: Math.max(total, known.total) })
    },

    /** Counts requests on top of the last known count, because the shared counter did not respond. */
    add: (id: string, { requests, owed }: { readonly requests: number; readonly owed: number }): Counted => {
      const known = find(id) ?? { total: 0, owed: 0, endsAt: now() + seconds * 1000 }
      return keep(id, { ...known, total: known.total + requests, owed: known.owed + owed })
    },
  }
}
