/** Number of steps in which a time limit is measured. */
const STEPS = 10

/**
 * Resolves like the work, but throws when it takes longer than `ms`. The work itself continues. Counts only the time in
 * which this process could have read a response: a busy period counts as at most one step.
 */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    let steps = 0
    timer = setInterval(() => {
      steps += 1
      if (steps < STEPS) return
      clearInterval(timer)
      // Between a timer and an immediate Node reads the data that has arrived.
      setImmediate(() => reject(new Error(`no response within ${ms} ms`)))
    }, ms / STEPS)
  })
  return Promise.race([work, late]).finally(() => clearInterval(timer))
}
