/** Aborts all running jobs at once, so that other workers take them. */
export interface HandBack {
  /** Aborts with `HandedBack` when the jobs that run now must be returned to the queue. */
  signal(): AbortSignal
  now(): void
}

/** The worker's node is shutting down before the job does. */
export class HandedBack extends Error {}

export function createHandBack(): HandBack {
  let current = new AbortController()
  return {
    signal: () => current.signal,
    now: () => {
      const running = current
      // Jobs that the worker takes later, after the order to take jobs again, are not affected.
      current = new AbortController()
      running.abort(new HandedBack("The worker's node is shutting down."))
    },
  }
}
