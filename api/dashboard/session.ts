import { createHash, timingSafeEqual } from 'node:crypto'
import { DrapeError } from '../shared/errors.ts'
import type { OperatorSessions } from '../stores/operator-sessions.ts'
import { seeOther } from './layout.ts'
import type { DashboardContext, DashboardMiddleware } from './state.ts'

/** With TLS the browser takes the cookie from nobody but this very host. */
const cookieName = (isSecure: boolean) => (isSecure ? '__Host-drape-operator' : 'drape-operator')

/** Finds out who asks. */
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
    ctx.state.csrf = csrfOf(token)
    ctx.state.operator = token === '' ? null : await sessions.use(token)
    return next()
  }
}

/** Gives the browser a session, or with null takes it away. */
export function setCookie(
  ctx: DashboardContext,
  { token, isSecure }: { token: string | null; isSecure: boolean },
): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])]
  const expiry = token === null ? ['Max-Age=0'] : []
  ctx.append('Set-Cookie', [`${cookieName(isSecure)}=${token ?? ''}`, ...attributes, ...expiry].join('; '))
}

/**
 * Lets a form through that a page of this very address has sent; a browser says which. `origin` is what the dashboard is reached
 * at, or null when that is whatever the request was sent to.
 */
export function refuseStrangers({ origin }: { origin: string | null }): DashboardMiddleware {
  return function strangers(ctx, next) {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next()
    const from = ctx.get('origin')
    const isOurs = origin === null ? URL.parse(from)?.host === ctx.get('host') : from === origin
    if (!isOurs) throw new DrapeError('FORBIDDEN', 'The form was not sent from a page of this dashboard.')
    return next()
  }
}

/** Lets operators through. Others go to the sign-in, and what they have sent is not done. */
export const requireOperator: DashboardMiddleware = function operators(ctx, next) {
  if (ctx.state.operator === null) {
    const place = ctx.method === 'GET' ? `?next=${encodeURIComponent(ctx.url)}` : '?ended=true'
    return seeOther(ctx, `/sign-in${place}`)
  }
  if (ctx.method === 'POST' && !isEqual(ctx.state.form.get('csrf') ?? '', ctx.state.csrf))
    throw new DrapeError('FORBIDDEN', 'The form is not of this session. Open its page again.')
  return next()
}

/** Follows from what the browser holds, and tells nothing of it. */
function csrfOf(token: string): string {
  return createHash('sha256').update(`csrf:${token}`).digest('base64url')
}

function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
