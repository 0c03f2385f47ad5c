import { randomBytes } from 'node:crypto'
import { html } from '../../http/answers/html.ts'
import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { seeOther, showPage } from '../html/layout.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { spendAttempt } from './attempts.ts'
import type { Claims, IdentityProvider } from './identity-provider.ts'
import type { OperatorSessions } from './operator-sessions.store.ts'
import type { OperatorRecord, Operators, Role } from './operators.store.ts'
import { hashPassword } from './password.ts'
import { setCookie } from './session-cookie.ts'
import { isOwnPath, showSignIn } from './sign-in.ts'

export interface SingleSignOn {
  readonly provider: IdentityProvider
  /** Claims that make a person an operator; one is sufficient. Empty: operators must be created first. */
  readonly grants: readonly Grant[]
  /** Roles by claim; the first match applies at each sign-in. Null: the role of the operator's record. */
  readonly roles: readonly RoleGrant[] | null
  /** Whether to accept an address that the provider has not marked as verified. */
  readonly trustsEmail: boolean
}

/** A claim that equals this text, or is a list that contains it. */
export interface Grant {
  readonly claim: string
  readonly value: string
}

export interface RoleGrant extends Grant {
  readonly role: Role
}

export interface SingleSignOnOptions extends SingleSignOn {
  readonly operators: Pick<Operators, 'find' | 'insert' | 'setRole'>
  readonly sessions: OperatorSessions
  readonly audit: Pick<OperatorAudit, 'insert'>
  /** Whether operators may also sign in with a password. */
  readonly passwords: boolean
  /** Remaining attempts of an address. */
  readonly budget: RateLimiter
  readonly isSecure: boolean
}

export const SIGN_ON_PATH = '/sign-in/provider'
export const CALLBACK_PATH = '/sign-in/provider/callback'

/** Time limit of a sign-in at the provider. */
const TICKET_SECONDS = 600

/** GET /sign-in/provider: redirects to the provider; GET /sign-in/provider/callback: handles the return. */
export const singleSignOnPages = pages<SingleSignOnOptions>([
  {
    route: `GET ${SIGN_ON_PATH}`,
    role: null,
    run: (ctx, options) => orSignIn(ctx, options, () => leave(ctx, options)),
  },
  {
    route: `GET ${CALLBACK_PATH}`,
    role: null,
    run: (ctx, options) => orSignIn(ctx, options, () => comeBack(ctx, options)),
  },
])

/** Shows failures on the sign-in page. */
async function orSignIn(
  ctx: DashboardContext,
  { provider: { name: provider }, passwords }: SingleSignOnOptions,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    ctx.status = ERRORS[error.code].status
    if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
    if (ctx.status >= 500) ctx.state.log.error({ err: error, provider }, 'sign-in provider failed')
    showSignIn(ctx, { provider, passwords, problem: error.message })
  }
}

async function leave(ctx: DashboardContext, { provider, budget, isSecure }: SingleSignOnOptions): Promise<void> {
  await spendAttempt(budget, ctx.ip)
  const next = new URLSearchParams(ctx.querystring).get('next') ?? undefined
  const ticket = provider.createTicket()
  const place = await provider.begin(ticket)
  holdTicket(ctx, { value: `${ticket}.${Buffer.from(isOwnPath(next) ? next : '/').toString('base64url')}`, isSecure })
  seeOther(ctx, place.href)
}

async function comeBack(ctx: DashboardContext, options: SingleSignOnOptions): Promise<void> {
  const { provider, sessions, audit, isSecure } = options
  const { ticket, next } = readTicket(ctx.cookies.get(ticketName(isSecure)) ?? '')
  holdTicket(ctx, { value: null, isSecure })
  if (ticket === '') {
    throw new DrapeError('FORBIDDEN', 'This sign-in has expired or was started in another browser. Start again.')
  }
  const claims = await provider.finish(ticket, ctx.querystring)
  const operator = await findOperator(ctx, claims, options)
  await audit.insert(
    { ...actorOf(ctx), operator },
    { action: 'sign-in', object: operator.id, details: aboutSignIn(claims, provider) },
  )
  setCookie(ctx, { token: await sessions.insert(operator.id, 'provider'), isSecure })
  showContinuePage(ctx, next)
}

/** Browsers send no session cookie with a redirect from another site, so a page of ours continues. */
function showContinuePage(ctx: DashboardContext, next: string): void {
  const path = isOwnPath(next) ? next : '/'
  ctx.set('Refresh', `0; url=${path}`)
  showPage(ctx, { title: 'Signed in', body: html`<p><a href="${path}">Continue to the dashboard</a></p>` })
}

async function findOperator(
  ctx: DashboardContext,
  claims: Claims,
  options: SingleSignOnOptions,
): Promise<OperatorRecord> {
  const { operators, audit, grants, provider, trustsEmail } = options
  const refuse = async (why: string, message: string, object: string | null = null) => {
    const details = { ...aboutSignIn(claims, provider), why }
    await audit.insert({ ...actorOf(ctx), operator: null }, { action: 'sign-in.refused', object, details })
    return new DrapeError('FORBIDDEN', message)
  }
  const { email, email_verified: isVerified } = claims
  if (typeof email !== 'string' || !/^[^\s@]{1,200}@[^\s@]{1,119}$/.test(email)) {
    throw await refuse('no e-mail address', `${provider.name} does not share your e-mail address.`)
  }
  if (isVerified !== true && !(trustsEmail && isVerified === undefined)) {
    throw await refuse('address not verified', `${provider.name} has not verified that ${email} is yours.`)
  }
  const known = await operators.find(email)
  if (known?.accountId && isOperator(claims, options)) {
    throw await refuse(
      'owner of an account',
      `${email} is an owner of an account, and an operator according to ${provider.name}. Ask an admin to delete the owner on the page Operators, then sign in again.`,
      known.id,
    )
  }
  if (known?.isActive === false) throw await refuse('disabled', `${email} is no longer an operator.`, known.id)
  if (grants.length > 0 && !grants.some((grant) => hasClaim(claims, grant))) {
    throw await refuse('no claim', `${email} is not allowed to use this dashboard.`, known?.id)
  }
  if (known === null && grants.length === 0) {
    throw await refuse(
      'unknown',
      `${email} is not an operator. Ask an admin to create an operator with this e-mail address.`,
    )
  }
  if (known === null) return createOperator(ctx, { claims, email, options })
  return followRole(ctx, { known, claims, options })
}

/** Whether the claims grant the rights of an operator of all accounts. An owner may have taken the address of a future one. */
function isOperator(claims: Claims, { grants, roles }: SingleSignOnOptions): boolean {
  return [...grants, ...(roles ?? [])].some((grant) => hasClaim(claims, grant))
}

function roleOf(claims: Claims, { roles }: SingleSignOnOptions): Role | null {
  if (roles === null) return null
  return roles.find((grant) => hasClaim(claims, grant))?.role ?? 'viewer'
}

/**
 * When claims determine roles, an operator without a matching claim loses the role. An owner stays an owner: other owners chose the
 * address, and may know the password.
 */
async function followRole(
  ctx: DashboardContext,
  { known, claims, options }: { known: OperatorRecord; claims: Claims; options: SingleSignOnOptions },
): Promise<OperatorRecord> {
  const role = known.accountId === null ? roleOf(claims, options) : null
  if (role === null || role === known.role) return known
  const details = { ...aboutSignIn(claims, options.provider), role, before: known.role }
  await options.audit.insert(
    { ...actorOf(ctx), operator: known },
    { action: 'operator.role', object: known.id, details },
  )
  return options.operators.setRole(known.email, role)
}

/** Creates an operator from claims; no password is valid until one is set. */
async function createOperator(
  ctx: DashboardContext,
  { claims, email, options }: { claims: Claims; email: string; options: SingleSignOnOptions },
): Promise<OperatorRecord> {
  const { operators, audit, provider } = options
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'))
  const name = typeof claims.name === 'string' ? claims.name.slice(0, 200) : null
  const role = roleOf(claims, options) ?? 'viewer'
  const operator = await operators.insert({ email, name, passwordHash, role })
  const details = { ...aboutSignIn(claims, provider), role }
  await audit.insert({ ...actorOf(ctx), operator }, { action: 'operator.create', object: operator.id, details })
  return operator
}

function hasClaim(claims: Claims, { claim, value }: Grant): boolean {
  return [claims[claim]].flat().includes(value)
}

function aboutSignIn({ sub }: Claims, { name }: IdentityProvider) {
  return { provider: name, subject: sub.slice(0, 255) }
}

function readTicket(value: string): { ticket: string; next: string } {
  const at = value.indexOf('.')
  return at < 0
    ? { ticket: '', next: '' }
    : { ticket: value.slice(0, at), next: Buffer.from(value.slice(at + 1), 'base64url').toString() }
}

function ticketName(isSecure: boolean): string {
  return isSecure ? '__Host-drape-sign-in' : 'drape-sign-in'
}

/** Unlike the session cookie, this cookie must be sent with requests from the provider's site. */
function holdTicket(ctx: DashboardContext, { value, isSecure }: { value: string | null; isSecure: boolean }): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...(isSecure ? ['Secure'] : [])]
  const age = `Max-Age=${value === null ? 0 : TICKET_SECONDS}`
  ctx.append('Set-Cookie', [`${ticketName(isSecure)}=${value ?? ''}`, ...attributes, age].join('; '))
}
