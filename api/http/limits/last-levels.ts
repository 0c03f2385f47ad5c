import { createCache } from '../../shared/process/cache.ts'
import type { LocalState } from './rate-limiter.ts'

/** Maximum number of IDs; the least recently used ones are evicted first. */
const MAX_IDS = 20_000
/** A shared level that is lower than the local one by more tokens than this (the clock difference) has lost data. */
const TOLERANCE = 1

/** The level of the shared bucket before these tokens were spent. */
interface Answer {
  readonly before: number
  readonly tokens: number
}

interface Level {
  readonly level: number
  /** Tokens of this replica that the shared bucket is missing. */
  owed: number
  /** Tokens that are being added to the shared bucket. */
  moving: number
  /** ms since 1970. */
  readonly at: number
}

/** Local copy of the level of each ID's bucket, used while the shared bucket does not respond. */
export function createLastLevels({
  burst,
  perSecond,
  now,
}: {
  readonly burst: number
  readonly perSecond: number
  readonly now: () => number
}): LocalState<Answer, { readonly total: number }> {
  const levels = createCache<Level>({ max: MAX_IDS })

  function find(id: string): number {
    const known = levels.get(id)
    return known === undefined ? 0 : Math.max(0, known.level - ((now() - known.at) / 1000) * perSecond)
  }

  /** Stores as many tokens as the bucket can hold, and returns the level as if it could hold all. */
  function spend(id: string, before: number, { tokens, owes }: { tokens: number; owes: boolean }) {
    const granted = Math.max(0, Math.min(tokens, Math.floor(burst - before)))
    const owed = (levels.get(id)?.owed ?? 0) + (owes ? granted : 0)
    levels.set(id, { level: before + granted, owed, moving: 0, at: now() })
    return { total: before + tokens }
  }

  return {
    takeOwed: (id) => {
      const known = levels.get(id)
      if (known === undefined) return 0
      known.moving = known.owed
      known.owed = 0
      return known.moving
    },
    note: (id, { before, tokens }) => {
      const known = find(id) - (levels.get(id)?.moving ?? 0)
      return spend(id, known > before + TOLERANCE ? known : before, { tokens, owes: false })
    },
    add: (id, { requests, owed }) => spend(id, find(id), { tokens: requests, owes: owed > 0 }),
  }
}
