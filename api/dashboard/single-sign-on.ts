import { randomBytes } from 'node:crypto'
import Router from '@koa/router'
import type { Budget } from '../budget.ts'
import { html } from '../html.ts'
import { HTTP_STATUS } from '../middleware/errors.ts'
import { DrapeError } from '../shared/errors.ts'
import type { OperatorAudit } from '../stores/operator-audit.ts'
import type { OperatorSessions } from '../stores/operator-sessions.ts'
import type { OperatorRecord, Operators } from '../stores/operators.ts'
import type { Claims, IdentityProvider } from './identity-provider.ts'
import { seeOther, showPage } from './layout.ts'
import { hashPassword } from './password.ts'
import { setCookie } from './session.ts'
import { isOwnPath, showSignIn } from './sign-in.ts'
import { actorOf, type DashboardContext, type DashboardState } from './state.ts'

export interface SingleSignOn {
  readonly provider: IdentityProvider
  /** Claims that make somebody an operator, of which one is enough. Without any, operators have to be created first. */
  readonly grants: readonly Grant[]
  /** Whether an address counts of which the provider does not say that it is verified. */
  readonly trustsEmail: boolean
}

/** A claim that is this text, or has it in its list. */
export interface Grant {
  readonly claim: string
  readonly value: string
}

export interface SingleSignOnOptions extends SingleSignOn {
  readonly operators: Pick<Operators, 'find' | 'insert'>
  readonly sessions: OperatorSessions
  readonly audit: Pick<OperatorAudit, 'insert'>
  /** Tries that an address still has. */
  readonly budget: Budget
  readonly isSecure: boolean
}

export const SIGN_ON_PATH = '/sign-in/provider'
export const CALLBACK_PATH = '/sign-in/provider/callback'

/** How long somebody may take at the provider. */
const TICKET_SECONDS = 600

/** GET /sign-in/provider: to the provider; GET /sign-in/provider/callback: back from it. */
export function singleSignOnRoutes(options: SingleSignOnOptions): Router<DashboardState> {
  const router = new Router<DashboardState>()
  const { name } = options.provider
  router.get(SIGN_ON_PATH, (ctx: DashboardContext) => orSignIn(ctx, name, () => leave(ctx, options)))
  router.get(CALLBACK_PATH, (ctx: DashboardContext) => orSignIn(ctx, name, () => comeBack(ctx, options)))
  return router
}

/** What goes wrong is told where the password is asked for. */
async function orSignIn(ctx: DashboardContext, provider: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    ctx.status = HTTP_STATUS[error.code]
    if (ctx.status >= 500) ctx.state.log.error({ err: error, provider }, 'the sign-in provider failed')
    showSignIn(ctx, { provider, problem: error.message })
  }
}

async function leave(ctx: DashboardContext, { provider, budget, isSecure }: SingleSignOnOptions): Promise<void> {
  const { allowed, resetSeconds } = await budget(ctx.ip)
  if (!allowed) {
    ctx.set('Retry-After', String(resetSeconds))
    throw new DrapeError('RATE_LIMITED', `Too many tries. The next one is in ${Math.ceil(resetSeconds / 60)} min.`)
  }
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
    throw new DrapeError('FORBIDDEN', 'This sign-in was not begun in this browser, or took too long. Begin again.')
  }
  const claims = await provider.finish(ticket, ctx.querystring)
  const operator = await findOperator(ctx, claims, options)
  await audit.insert(
    { ...actorOf(ctx), form: null, operator },
    { action: 'sign-in', object: operator.id, details: aboutSignIn(claims, provider) },
  )
  setCookie(ctx, { token: await sessions.insert(operator.id), isSecure })
  showWayOn(ctx, next)
}

/**
 * The browser sends the cookie of a session to nobody who comes from elsewhere, as whoever is sent on from the provider does. So
 * it is a page of ours that leads on.
 */
function showWayOn(ctx: DashboardContext, next: string): void {
  const path = isOwnPath(next) ? next : '/'
  ctx.set('Refresh', `0; url=${path}`)
  showPage(ctx, { title: 'Signed in', body: html`<p><a href="${path}">Go on to the dashboard</a></p>` })
}

async function findOperator(
  ctx: DashboardContext,
  claims: Claims,
  options: SingleSignOnOptions,
): Promise<OperatorRecord> {
  const { operators, audit, grants, provider, trustsEmail } = options
  const refuse = async (why: string, message: string, object: string | null = null) => {
    const details = { ...aboutSignIn(claims, provider), why }
    await audit.insert({ ...actorOf(ctx), form: null, operator: null }, { action: 'sign-in.refused', object, details })
    return new DrapeError('FORBIDDEN', message)
  }
  const { email, email_verified: isVerified } = claims
  if (typeof email !== 'string' || !/^[^\s@]{1,200}@[^\s@]{1,119}$/.test(email)) {
    throw await refuse('no e-mail address', `${provider.name} does not tell your e-mail address.`)
  }
  if (isVerified !== true && !(trustsEmail && isVerified === undefined)) {
    throw await refuse('address not verified', `${provider.name} has not verified that ${email} is yours.`)
  }
  const known = await operators.find(email)
  if (known?.isActive === false) throw await refuse('disabled', `${email} is no operator any more.`, known.id)
  if (grants.length > 0 && !grants.some((grant) => hasClaim(claims, grant))) {
    throw await refuse('no claim', `${email} is not among those who may use this dashboard.`, known?.id)
  }
  if (known === null && grants.length === 0) {
    throw await refuse('unknown', `${email} is no operator. Somebody who is one has to create you first.`)
  }
  return known ?? createOperator(ctx, { claims, email, options })
}

/** An operator by a claim alone; no password fits, until one is set. */
async function createOperator(
  ctx: DashboardContext,
  { claims, email, options }: { claims: Claims; email: string; options: SingleSignOnOptions },
): Promise<OperatorRecord> {
  const { operators, audit, provider } = options
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'))
  const name = typeof claims.name === 'string' ? claims.name.slice(0, 200) : null
  const operator = await operators.insert({ email, name, passwordHash })
  const details = aboutSignIn(claims, provider)
  await audit.insert(
    { ...actorOf(ctx), form: null, operator },
    { action: 'operator.create', object: operator.id, details },
  )
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

/** Unlike the session's, this cookie has to come along from the provider's site. */
function holdTicket(ctx: DashboardContext, { value, isSecure }: { value: string | null; isSecure: boolean }): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...(isSecure ? ['Secure'] : [])]
  const age = `Max-Age=${value === null ? 0 : TICKET_SECONDS}`
  ctx.append('Set-Cookie', [`${ticketName(isSecure)}=${value ?? ''}`, ...attributes, age].join('; '))
}
