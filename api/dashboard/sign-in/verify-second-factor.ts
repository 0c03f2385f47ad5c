import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { spendAttempt } from './attempts.ts'
import type { SecondFactors } from './second-factors.store.ts'
import { findStep } from './totp.ts'

/**
 * Whether this is a valid code of the operator's authenticator app or a recovery code. Consumes the code: neither works
 * twice. `confirm` accepts the first code of a new app, and no recovery code. Throws `RATE_LIMITED` after too many
 * attempts.
 */
export type SecondFactorCheck = (
  operatorId: string,
  typed: { readonly code: string; readonly confirm?: boolean },
  factors: SecondFactors,
) => Promise<boolean>

export function createSecondFactorCheck({
  budget,
  now = Date.now,
}: {
  /** Remaining attempts at a factor of an operator: one set up after a reset starts with all. */
  budget: RateLimiter
  now?: () => number
}): SecondFactorCheck {
  return async (operatorId, { code: typed, confirm = false }, factors) => {
    await spendAttempt(budget, `${operatorId} ${await factors.findCreation(operatorId)}`, 'codes')
    const code = typed.replaceAll(/[\s-]/g, '').toLowerCase()
    if (!/^\d{6}$/.test(code)) return !confirm && factors.spendRecoveryCode(operatorId, code)
    const factor = await factors.find(operatorId)
    const step = factor === null ? null : findStep(factor.secret, code, now())
    return step !== null && factors.spendStep(operatorId, step, { confirm })
  }
}
