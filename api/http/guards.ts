import type { Guards } from './route.ts'

/** Guards of the routes with an API key. */
export interface KeyGuards {
  readonly reading: Guards
  /** Also parses the body and handles `Idempotency-Key`. */
  readonly writing: Guards
}

export function reading({ reading }: Pick<KeyGuards, 'reading'>): Guards {
  return reading
}

export function writing({ writing }: Pick<KeyGuards, 'writing'>): Guards {
  return writing
}
