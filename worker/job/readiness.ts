/** Whether the worker takes jobs: the conditions for it, and who acts when one may have changed. */
export function createReadiness({ now = () => performance.now() }: { now?: () => number } = {}) {
  const conditions: (() => boolean)[] = []
  const listeners: (() => unknown)[] = []
  let pausedUntil = Number.NEGATIVE_INFINITY
  const canWork = () => conditions.every((condition) => condition())
  return {
    /** Adds a condition without which no job is taken. */
    require: (condition: () => boolean): void => {
      conditions.push(condition)
    },
    /** Whether a job could run now. */
    canWork,
    /** The same, but not during a pause. */
    mayTake: () => canWork() && now() >= pausedUntil,
    /** Takes no jobs for this many ms. */
    pause: (ms: number): void => {
      pausedUntil = now() + ms
    },
    /** Calls back when a condition may have changed. */
    onNote: (listener: () => unknown): void => {
      listeners.push(listener)
    },
    note: (): void => {
      for (const listener of listeners) listener()
    },
  }
}
