import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { DrapeError } from '../../shared/contract/errors.ts'

/** Spends one point of an ID. `what` is limited, in the plural. Throws `RATE_LIMITED` without any left. */
export async function spendAttempt(budget: RateLimiter, id: string, what = 'attempts'): Promise<void> {
  const { allowed, resetSeconds } = await budget(id)
  if (!allowed)
    throw new DrapeError('RATE_LIMITED', `Too many ${what}. Try again in ${Math.ceil(resetSeconds / 60)} min.`, {
      retryAfterSeconds: resetSeconds,
    })
}
