import { DrapeError } from '../../shared/contract/errors.ts'

/** Runs work of an account in its lane. Throws `RATE_LIMITED` when the lane stays full for too long. */
export type Lanes = <T>(accountId: string, work: () => Promise<T>) => Promise<T>

interface Lane {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Limits each account to `maxConcurrent` concurrent works in this process; further ones wait up to `maxWaitMs`. Throws
 * `RATE_LIMITED` with the message after that time, or when `maxWaiting` works are already waiting.
 */
export function createLanes({
  maxConcurrent,
  maxWaiting,
  maxWaitMs,
  message,
}: {
  maxConcurrent: number
  maxWaiting: number
  maxWaitMs: number
  message: string
}): Lanes {
  const lanes = new Map<string, Lane>()
  const refused = () => new DrapeError('RATE_LIMITED', message, { retryable: true })
  return async (accountId, work) => {
    const lane = lanes.get(accountId) ?? { running: 0, waiting: [] }
    lanes.set(accountId, lane)
    if (lane.running < maxConcurrent) lane.running++
    else if (lane.waiting.length >= maxWaiting) throw refused()
    else await wait(lane, maxWaitMs, refused)
    try {
      return await work()
    } finally {
      const next = lane.waiting.shift()
      if (next) next()
      else if (--lane.running === 0) lanes.delete(accountId)
    }
  }
}

function wait({ waiting }: Lane, maxWaitMs: number, refused: () => DrapeError): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    waiting.splice(waiting.indexOf(proceed), 1)
    reject(refused())
  }, maxWaitMs)
  function proceed() {
    clearTimeout(timer)
    resolve()
  }
  waiting.push(proceed)
  return promise
}
