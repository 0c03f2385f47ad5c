import { createCache } from '../shared/cache.ts'
import type { LastKnown } from './budget.ts'

/** Ids whose levels are kept; those that were spent from longest ago are dropped first. */
const MAX_IDS = 20_000
/** A common level that is lower than the known one by more tokens than clocks differ has lost counts. */
const TOLERANCE = 1

/** The level of the common bucket before these tokens were spent. */
interface Answer {
  readonly before: number
  readonly tokens: number
}

interface Level {
  readonly level: number
  /** Tokens of this replica that the common bucket does not have. */
  owed: number
  /** Tokens that are on their way to it. */
  moving: number
  /** ms since 1970. */
  readonly at: number
}

/** What this replica knows of the level of each id's bucket, to go on from while the common bucket does not answer. */
export function createLastLevels({
  burst,
  perSecond,
  now,
}: {
  readonly burst: number
  readonly perSecond: number
  readonly now: () => number
}): LastKnown<Answer, { readonly total: number }> {
  const levels = createCache<Level>({ max: MAX_IDS })

  function find(id: string): number {
    const known = levels.get(id)
    return known === undefined ? 0 : Math.max(0, known.level - ((now() - known.at) / 1000) * perSecond)
  }

  /** Keeps what the bucket has room for, and returns the level as if it had room for all. */
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
