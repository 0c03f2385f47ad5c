import type { Guards } from '../route.ts'

/** What stands in front of the routes behind an API key. */
export interface KeyGuards {
  readonly reading: Guards
  /** Also parses the body and remembers the answer to an `Idempotency-Key`. */
  readonly writing: Guards
}

export function reading({ reading }: Pick<KeyGuards, 'reading'>): Guards {
  return reading
}

export function writing({ writing }: Pick<KeyGuards, 'writing'>): Guards {
  return writing
}
