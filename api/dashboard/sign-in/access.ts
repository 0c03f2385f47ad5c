import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { readIssuedForm } from '../forms/issued-forms.ts'
import { seeOther } from '../html/layout.ts'
import type { DashboardMiddleware } from '../state.ts'
import { spendAttempt } from './attempts.ts'
import { OPEN_BEFORE_ENROLMENT } from './required-second-factor.ts'

/**
 * Accepts only forms that a page of this origin sent, according to the browser. `origin` is the dashboard's public
 * origin; null: the host of the request.
 */
export function requireSameOrigin({ origin }: { origin: string | null }): DashboardMiddleware {
  return function strangers(ctx, next) {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next()
    const from = ctx.get('origin')
    const isOurs = origin === null ? URL.parse(from)?.host === ctx.get('host') : from === origin
    if (!isOurs) throw new DrapeError('FORBIDDEN', 'The form was not sent from a page of this dashboard.')
    return next()
  }
}

/**
 * Accepts only operators, and forms that were issued to them. Redirects others to the sign-in, and from there to the
 * page, without running their form.
 */
export const requireOperator: DashboardMiddleware = function operators(ctx, next) {
  const { operator, formKey: key, form } = ctx.state
  if (operator === null || key === null) {
    const place = ctx.method === 'GET' ? ctx.url : ctx.state.pages.findFormPage(ctx.path)
    const query = new URLSearchParams({
      ...(ctx.method !== 'GET' && { ended: 'true' }),
      ...(place !== null && { next: place }),
    })
    return seeOther(ctx, `/sign-in?${query}`)
  }
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return next()
  ctx.state.formId = readIssuedForm(form.get('form') ?? '', { key, action: ctx.path })
  if (ctx.state.formId === null)
    throw new DrapeError(
      'FORBIDDEN',
      'The form was not issued to this session for this action. Reload the page and try again.',
    )
  return next()
}

/** Limits what owners can add to the audit log, which is never deleted. `budget` is that of an operator. */
export function limitOwners(budget: RateLimiter): DashboardMiddleware {
  return async function limits(ctx, next) {
    const { operator } = ctx.state
    if (ctx.method !== 'POST' || operator === null || operator.accountId === null) return next()
    await spendAttempt(budget, operator.id, 'changes')
    return next()
  }
}

/**
 * Refuses requests that the operator's role does not permit, every path without a page, and what owners of a deactivated account want
 * to change.
 */
export const requireRole: DashboardMiddleware = function roles(ctx, next) {
  const { operator, pages } = ctx.state
  if (operator !== null && pages.isPermitted(operator.role, ctx.method, ctx.path)) {
    const changes = ctx.method === 'POST' && !OPEN_BEFORE_ENROLMENT.test(ctx.path)
    if (!changes || operator.isAccountActive !== false) return next()
    throw new DrapeError('FORBIDDEN', 'Your account is deactivated. You can read its pages, but change nothing.')
  }
  const needed = pages.rolesFor(ctx.method, ctx.path)
  if (operator === null || operator.role === 'owner' || needed.length === 0)
    throw new DrapeError('ROUTE_NOT_FOUND', 'The page does not exist.')
  const names = [...new Set(needed)].filter((role) => role !== 'viewer').join(' and ')
  throw new DrapeError('FORBIDDEN', `This action requires the role ${names}. Your role is ${operator.role}.`)
}
