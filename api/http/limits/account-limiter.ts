import { DrapeError } from '../../shared/contract/errors.ts'

/** Runs work of an account within the limit. Throws `RATE_LIMITED` when the account stays at its limit for too long. */
export type AccountLimiter = <T>(accountId: string, work: () => Promise<T>) => Promise<T>

interface AccountWork {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Limits each account to `maxConcurrent` concurrent works in this process; further ones wait up to `maxWaitMs`. Throws
 * `RATE_LIMITED` with the message after that time, or when `maxWaiting` works are already waiting.
 */
export function createAccountLimiter({
  maxConcurrent,
  maxWaiting,
  maxWaitMs,
  message,
}: {
  maxConcurrent: number
  maxWaiting: number
  maxWaitMs: number
  message: string
}): AccountLimiter {
  const accounts = new Map<string, AccountWork>()
  const refused = () => new DrapeError('RATE_LIMITED', message, { retryable: true })
  return async (accountId, run) => {
    const work = accounts.get(accountId) ?? { running: 0, waiting: [] }
    accounts.set(accountId, work)
    if (work.running < maxConcurrent) work.running++
    else if (work.waiting.length >= maxWaiting) throw refused()
    else await wait(work, maxWaitMs, refused)
    try {
      return await run()
    } finally {
      const next = work.waiting.shift()
      if (next) next()
      else if (--work.running === 0) accounts.delete(accountId)
    }
  }
}

function wait({ waiting }: AccountWork, maxWaitMs: number, refused: () => DrapeError): Promise<void> {
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
