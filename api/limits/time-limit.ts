/** A limit is measured in this many steps. */
const STEPS = 10

/**
 * What the work resolves to; rejects when that takes longer than `ms`. The work goes on by itself. Only the time in which this
 * process could have read an answer counts: however long it is busy with something else, that is one step of the limit at most.
 */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    let steps = 0
    timer = setInterval(() => {
      steps += 1
      if (steps < STEPS) return
      clearInterval(timer)
      // Between a timer and an immediate Node reads whatever has arrived.
      setImmediate(() => reject(new Error(`no answer within ${ms} ms`)))
    }, ms / STEPS)
  })
  return Promise.race([work, late]).finally(() => clearInterval(timer))
}
