/**
 * What the work resolves to; rejects when that takes longer than `ms`. The work goes on by itself. An answer is not late for
 * lying unread while this process was busy with something else.
 */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    // Between a timer and an immediate Node reads whatever has arrived.
    timer = setTimeout(() => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
