import { createHash } from 'node:crypto'
import { type Html, html } from '../../http/answers/html.ts'
import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { Type } from '../../shared/contract/schema.ts'
import { presentFields } from '../forms/fields.ts'
import { fieldsReader } from '../forms/form.ts'
import type { RejectedForm } from '../forms/rejected-form.ts'
import { when } from '../html/elements.ts'
import { seeOther, showPage } from '../html/layout.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, type BoundPage, pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { requireOperator } from './access.ts'
import { findKnownBrowser, rememberBrowser } from './known-browser.ts'
import { createOperatorSessions, type OperatorSessions } from './operator-sessions.store.ts'
import { type OperatorSignIns, SIGN_IN_MINUTES } from './operator-sign-ins.store.ts'
import { createOperators, type OperatorSecret, type Operators } from './operators.store.ts'
import { PASSWORD_LENGTH } from './password.ts'
import type { SecondFactors } from './second-factors.store.ts'
import { setCookie } from './session-cookie.ts'
import type { SecondFactorCheck } from './verify-second-factor.ts'

/** Limits of attempts to sign in, per address and per operator. */
export const ATTEMPTS = {
  address: { points: 20, seconds: 600 },
  operator: { points: 10, seconds: 600 },
} as const

export interface SignInOptions {
  readonly operators: Pick<Operators, 'findSecret'>
  readonly sessions: Pick<OperatorSessions, 'delete'>
  readonly audit: OperatorAudit
  /** Remaining attempts of an address, of an operator, and of a browser in which the operator has signed in before. */
  readonly budgets: { readonly address: RateLimiter; readonly operator: RateLimiter }
  readonly verifyPassword: (password: string, stored: string | null) => Promise<boolean>
  readonly isSecure: boolean
  /** Whether operators may sign in with a password. */
  readonly passwords: boolean
  readonly signIns: OperatorSignIns
  readonly factors: SecondFactors
  readonly checkCode: SecondFactorCheck
  /** Displayed name of the identity provider; null without one. */
  readonly provider: string | null
}

/** GET and POST /sign-in and /sign-in/code, POST /sign-out; only GET /sign-in and POST /sign-out without passwords. */
export function signInPages(options: SignInOptions): BoundPage[] {
  return [...always(options), ...(options.passwords ? withPasswords(options) : [])]
}

const always = pages<SignInOptions>([
  { route: 'GET /sign-in', role: null, run: showSignIn },
  {
    route: 'POST /sign-out',
    role: 'viewer',
    owns: anyOwner,
    run: (ctx, options) => requireOperator(ctx, () => signOut(ctx, options)),
  },
])

const withPasswords = pages<SignInOptions>([
  { route: 'POST /sign-in', role: null, form: '/sign-in', run: signIn },
  { route: 'GET /sign-in/code', role: null, run: (ctx) => showCode(ctx) },
  { route: 'POST /sign-in/code', role: null, form: '/sign-in/code', run: sendCode },
])

const readFields = fieldsReader(
  Type.Object({
    email: Type.String({ maxLength: 320 }),
    next: Type.Optional(Type.String()),
  }),
)

async function signIn(ctx: DashboardContext, options: SignInOptions): Promise<void> {
  const { operators, audit, verifyPassword, signIns, isSecure } = options
  const { email, next } = readFields(ctx.state.form)
  const password = (ctx.state.form.get('password') ?? '').slice(0, PASSWORD_LENGTH.max + 1)
  const operator = await operators.findSecret(email)
  const browser = findKnownBrowser(ctx, operator, isSecure)
  const retrySeconds = await spend(options, { address: ctx.ip, email, browser })
  if (retrySeconds !== null) {
    ctx.status = 429
    ctx.set('Retry-After', String(retrySeconds))
    const minutes = Math.ceil(retrySeconds / 60)
    return showSignIn(ctx, { ...options, email, problem: `Too many attempts. Try again in ${minutes} min.` })
  }
  // Also for unknown addresses: the duration must not reveal which exist.
  const isRight = await verifyPassword(password, operator?.passwordHash ?? null)
  const actor = { ...actorOf(ctx), operator: operator && { id: operator.id, email: operator.email } }
  if (operator === null || !isRight) {
    // The typed address may be a password in the wrong field, so it is not recorded for unknown operators.
    await audit.insert(actor, { action: 'sign-in.refused', object: operator?.id ?? null })
    ctx.status = 401
    return showSignIn(ctx, { ...options, email, problem: 'The e-mail address or the password is wrong.' })
  }
  if (!operator.hasSecondFactor) return enter(ctx, options, { operator, next })
  holdSignIn(ctx, { token: await signIns.insert(operator), isSecure })
  seeOther(ctx, `/sign-in/code?next=${encodeURIComponent(isOwnPath(next) ? next : '/')}`)
}

/** Opens a session of an operator with a verified password and code, unless these were changed since. */
async function enter(
  ctx: DashboardContext,
  options: SignInOptions,
  { operator, next }: { operator: OperatorSecret; next: string | undefined },
): Promise<void> {
  const { audit, isSecure } = options
  const actor = { ...actorOf(ctx), operator }
  const entered = await audit.record(actor, async (within) => {
    if (!(await createOperators(within).isUnchanged(operator))) return null
    const token = await createOperatorSessions(within).insert(operator.id)
    return { token, act: { action: 'sign-in', object: operator.id } }
  })
  if (entered === null) {
    await audit.insert(actor, { action: 'sign-in.refused', object: operator.id, details: { why: 'changed' } })
    ctx.status = 401
    const problem = 'Your password or your access was changed in the meantime. Sign in again.'
    return showSignIn(ctx, { ...options, email: operator.email, problem })
  }
  setCookie(ctx, { token: entered.token, isSecure })
  rememberBrowser(ctx, operator, isSecure)
  seeOther(ctx, isOwnPath(next) ? next : '/')
}

const readCode = fieldsReader(Type.Object({ code: Type.String({ maxLength: 50 }), next: Type.Optional(Type.String()) }))

async function sendCode(ctx: DashboardContext, options: SignInOptions): Promise<void> {
  const { signIns, factors, audit, checkCode, isSecure } = options
  const { code, next } = readCode(ctx.state.form)
  const token = ctx.cookies.get(signInCookie(isSecure)) ?? ''
  const operator = token === '' ? null : await signIns.find(token)
  const late = () => seeOther(ctx, `/sign-in?late=true&next=${encodeURIComponent(isOwnPath(next) ? next : '/')}`)
  if (operator === null) return late()
  if (await checkCode(operator.id, { code }, factors)) {
    holdSignIn(ctx, { token: null, isSecure })
    if (!(await signIns.delete(token))) return late()
    return enter(ctx, options, { operator: { ...operator, hasSecondFactor: true }, next })
  }
  await audit.insert(
    { ...actorOf(ctx), operator },
    { action: 'sign-in.refused', object: operator.id, details: { why: 'code' } },
  )
  ctx.status = 401
  showCode(ctx, 'The code is wrong or was already used. Enter the next code.')
}

/** State between the password and the code. */
function holdSignIn(ctx: DashboardContext, { token, isSecure }: { token: string | null; isSecure: boolean }): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])]
  const age = `Max-Age=${token === null ? 0 : SIGN_IN_MINUTES * 60}`
  ctx.append('Set-Cookie', [`${signInCookie(isSecure)}=${token ?? ''}`, ...attributes, age].join('; '))
}

function signInCookie(isSecure: boolean): string {
  return isSecure ? '__Host-drape-code' : 'drape-code'
}

/** The page that asks for a code. */
function showCode(ctx: DashboardContext, problem?: string): void {
  const next = ctx.state.form.get('next') ?? new URLSearchParams(ctx.querystring).get('next') ?? ''
  ctx.state.operator = null
  showPage(ctx, {
    title: 'Sign in',
    body: html`<form method="post" action="/sign-in/code" class="narrow">
${when(problem, html`<p class="problem" role="alert">${problem ?? ''}</p>`)}
<input type="hidden" name="next" value="${next}">
${presentFields(ctx.state.forms.kept('/sign-in/code'), ({ field }) =>
  field({ name: 'code', label: 'Authenticator code or recovery code', required: true, autocomplete: 'one-time-code' }),
)}
<button>Sign in</button></form>`,
  })
}

/** Seconds until the next attempt; null when an attempt is available now. */
async function spend(
  { budgets }: SignInOptions,
  { address, email, browser }: { address: string; email: string; browser: string | null },
) {
  const name = createHash('sha256').update(email.toLowerCase()).digest('base64url')
  const spent =
    browser === null
      ? [await budgets.address(address), await budgets.operator(name)]
      : [await budgets.operator(`browser ${browser}`)]
  const refused = spent.filter(({ allowed }) => !allowed)
  return refused.length === 0 ? null : Math.max(...refused.map(({ resetSeconds }) => resetSeconds))
}

/** Whether a redirect to this path stays on this origin. */
export function isOwnPath(next: string | undefined): next is string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(next)
}

async function signOut(ctx: DashboardContext, { sessions, audit, isSecure }: SignInOptions): Promise<void> {
  await sessions.delete(ctx.state.token)
  await audit.insert(actorOf(ctx), { action: 'sign-out', object: ctx.state.operator?.id ?? null })
  setCookie(ctx, { token: null, isSecure })
  ctx.set('Clear-Site-Data', '"cache"')
  seeOther(ctx, '/sign-in')
}

export interface SignInPage {
  readonly provider: string | null
  readonly passwords: boolean
  readonly email?: string
  /** Error message. */
  readonly problem?: string
}

/** The sign-in page. */
export function showSignIn(ctx: DashboardContext, { provider, passwords, email, problem }: SignInPage): void {
  const query = new URLSearchParams(ctx.querystring)
  const next = ctx.state.form.get('next') ?? query.get('next') ?? ''
  const message = problem ?? (query.has('ended') ? ENDED : query.has('late') ? LATE_CODE : '')
  ctx.state.operator = null
  showPage(ctx, {
    title: 'Sign in',
    body: html`${when(message, html`<p class="${problem === undefined ? 'caution' : 'problem'}" role="alert">${message}</p>`)}
${when(
  provider,
  html`<a class="button" href="/sign-in/provider?next=${encodeURIComponent(next)}">Sign in with ${provider ?? ''}</a>`,
)}
${when(passwords, presentPasswordForm({ provider, email, next, kept: ctx.state.forms.kept('/sign-in') }))}`,
  })
}

const LATE_CODE = `A code is accepted only within ${SIGN_IN_MINUTES} minutes after the password. Sign in again.`

const ENDED = 'Your session has ended. Your last request was not executed.'

function presentPasswordForm({
  provider,
  email,
  next,
  kept,
}: {
  provider: string | null
  email?: string
  next: string
  kept: RejectedForm | null
}): Html {
  return html`<form method="post" action="/sign-in" class="narrow">
${when(provider, html`<p class="hint">Or sign in with a password:</p>`)}
<input type="hidden" name="next" value="${next}">
${presentFields(
  kept,
  ({
    field,
  }) => html`${field({ name: 'email', label: 'E-mail address', type: 'email', value: email, required: true, autocomplete: 'username' })}
${field({ name: 'password', label: 'Password', type: 'password', required: true, autocomplete: 'current-password' })}`,
)}
<button>Sign in</button></form>`
}
