import { seeOther } from '../html/layout.ts'
import type { DashboardMiddleware } from '../state.ts'
import type { SignedIn } from './operator-sessions.store.ts'

/** Page where an operator sets up a second factor, and the paths allowed until then. */
const ENROLMENT = '/second-factor'
export const OPEN_BEFORE_ENROLMENT = /^\/(second-factor(\/start|\/confirm|\/password)?|sign-out)$/

/** Operators who need a second factor; an identity provider checks its own. */
export type SecondFactorPolicy = 'optional' | 'admin' | 'all'

/** `admin` includes owners of accounts: both create secret keys. */
export function needsSecondFactor(policy: SecondFactorPolicy, { role }: Pick<SignedIn, 'role'>): boolean {
  return policy === 'all' || (policy === 'admin' && (role === 'admin' || role === 'owner'))
}

/** Redirects operators without a required second factor to its set-up. */
export function requireSecondFactor(policy: SecondFactorPolicy): DashboardMiddleware {
  return function secondFactor(ctx, next) {
    const { operator } = ctx.state
    if (operator === null || operator.hasSecondFactor || operator.method === 'provider') return next()
    if (!needsSecondFactor(policy, operator) || OPEN_BEFORE_ENROLMENT.test(ctx.path)) return next()
    return seeOther(ctx, `${ENROLMENT}?required=true`)
  }
}
