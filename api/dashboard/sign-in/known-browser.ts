import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DashboardContext } from '../state.ts'

// An attacker who guesses passwords can use up an operator's attempts, but not those of browsers in which the operator
// has signed in before: these have a cookie and separate attempts.
// https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies

export interface BrowserOwner {
  readonly id: string
  readonly passwordHash: string | null
}

const DAYS = 90

const cookieName = (isSecure: boolean) => (isSecure ? '__Host-drape-browser' : 'drape-browser')

/**
 * ID of a browser in which this operator has signed in with the current password; null for any other. The key of the
 * cookie's signature is the stored password hash, so a new password invalidates the cookie.
 */
export function findKnownBrowser(ctx: DashboardContext, owner: BrowserOwner | null, isSecure: boolean): string | null {
  const [id = '', signature = ''] = (ctx.cookies.get(cookieName(isSecure)) ?? '').split('.')
  const expected = owner && sign(owner, id)
  if (!expected) return null
  const given = Buffer.from(signature, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : null
}

/** Sets a new cookie, which the browser sends with later sign-ins. */
export function rememberBrowser(ctx: DashboardContext, owner: BrowserOwner, isSecure: boolean): void {
  const id = randomBytes(16).toString('base64url')
  const signature = sign(owner, id)
  if (signature === null) return
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])]
  const value = `${id}.${signature.toString('base64url')}`
  ctx.append('Set-Cookie', [`${cookieName(isSecure)}=${value}`, ...attributes, `Max-Age=${DAYS * 86_400}`].join('; '))
}

function sign({ id: operatorId, passwordHash }: BrowserOwner, id: string): Buffer | null {
  return passwordHash === null
    ? null
    : createHmac('sha256', passwordHash).update(`browser ${operatorId} ${id}`).digest()
}
