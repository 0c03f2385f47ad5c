/** Measures the time from a notification of new work to the decision for each pool. */
export interface DecisionTimes {
  /** Records a notification of possible new work for a pool. */
  ask(key: string): void
  /** Records the start of a reconcile of a pool. Call the returned function when a decision has been made. */
  begin(key: string): () => void
  /** Drops all times when another process becomes the leader. */
  forgetAll(): void
}

/** `observe` receives the seconds of each requested decision. `now` in ms. */
export function createDecisionTimes(observe: (seconds: number) => void, now = () => performance.now()): DecisionTimes {
  const askedAt = new Map<string, number>()
  return {
    ask: (key) => {
      if (!askedAt.has(key)) askedAt.set(key, now())
    },
    begin: (key) => {
      const at = askedAt.get(key)
      // Later notifications may have arrived too late for this reconcile.
      askedAt.delete(key)
      return () => {
        if (at !== undefined) observe((now() - at) / 1000)
      }
    },
    forgetAll: () => askedAt.clear(),
  }
}
