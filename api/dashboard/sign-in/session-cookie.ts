import { createFormIssuer } from '../forms/issued-forms.ts'
import type { DashboardContext, DashboardMiddleware } from '../state.ts'
import type { OperatorSessions } from './operator-sessions.store.ts'

/** Path of the events of pages that are open. */
export const LIVE_PATH = '/live'

/** With TLS, browsers accept the cookie only from this host. */
const cookieName = (isSecure: boolean) => (isSecure ? '__Host-drape-operator' : 'drape-operator')

/** Identifies the operator of a request. */
export function readSession({
  sessions,
  isSecure,
}: {
  sessions: OperatorSessions
  isSecure: boolean
}): DashboardMiddleware {
  return async function session(ctx, next) {
    const token = ctx.cookies.get(cookieName(isSecure)) ?? ''
    ctx.state.token = token
    // A page that is only open, and reads what it shows, must not keep its session from ending.
    const find = ctx.path === LIVE_PATH ? sessions.find : sessions.use
    const session = token === '' ? null : await find(token)
    if (session === null) return next()
    const { formKey, ...operator } = session
    const issue = createFormIssuer(formKey)
    Object.assign(ctx.state, { operator, formKey })
    ctx.state.forms = {
      ...ctx.state.forms,
      canOpen: (path) => ctx.state.pages.isPermitted(operator.role, 'GET', path),
      issue: (action) => (ctx.state.pages.isPermitted(operator.role, 'POST', action) ? issue(action) : null),
    }
    return next()
  }
}

/** Sets the session cookie; null deletes it. */
export function setCookie(
  ctx: DashboardContext,
  { token, isSecure }: { token: string | null; isSecure: boolean },
): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])]
  const expiry = token === null ? ['Max-Age=0'] : []
  ctx.append('Set-Cookie', [`${cookieName(isSecure)}=${token ?? ''}`, ...attributes, ...expiry].join('; '))
}
