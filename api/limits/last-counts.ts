import { createCache } from '../shared/cache.ts'
import type { Counted } from './count-together.ts'

/** Ids whose counts are kept; the ones that were counted longest ago are dropped first. */
const MAX_IDS = 20_000

interface Count {
  total: number
  /** Requests of this replica that the common counter does not have. */
  owed: number
  /** ms since 1970. */
  endsAt: number
}

/** What this replica knows of each id's window, to count on while the common counter does not answer. */
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
    /** The requests that the common counter does not have; from now on it has them. */
    takeOwed: (id: string): number => {
      const count = find(id)
      if (count === undefined) return 0
      const { owed } = count
      count.owed = 0
      return owed
    },

    /** The common counter answered: its total, and the ms until its window ends. */
    note: (id: string, { total, ms }: { readonly total: number; readonly ms: number }): Counted => {
      const known = find(id) ?? { total: 0, owed: 0, endsAt: now() + ms }
      // A counter that lost counts does not open a spent window again.
      return keep(id, { ...known, total: Math.max(total, known.total) })
    },

    /** The common counter did not answer: the requests count on top of the last known count. */
    add: (id: string, { requests, owed }: { readonly requests: number; readonly owed: number }): Counted => {
      const known = find(id) ?? { total: 0, owed: 0, endsAt: now() + seconds * 1000 }
      return keep(id, { ...known, total: known.total + requests, owed: known.owed + owed })
    },
  }
}
