/** How long it takes from the notification of work to a decision for each pool. */
export interface DecisionTimes {
  /** There may be new work for a pool. */
  ask(key: string): void
  /** A pool is being looked at now. Call what it returns when a decision has been made. */
  begin(key: string): () => void
  /** Another process decides now. */
  forgetAll(): void
}

/** `observe` gets the seconds of each requested decision. `now` in ms. */
export function createDecisionTimes(observe: (seconds: number) => void, now = () => performance.now()): DecisionTimes {
  const askedAt = new Map<string, number>()
  return {
    ask: (key) => {
      if (!askedAt.has(key)) askedAt.set(key, now())
    },
    begin: (key) => {
      const at = askedAt.get(key)
      // What is asked from now on, this look may have come too early for.
      askedAt.delete(key)
      return () => {
        if (at !== undefined) observe((now() - at) / 1000)
      }
    },
    forgetAll: () => askedAt.clear(),
  }
}
