import { createHash } from 'node:crypto'
import Router from '@koa/router'
import type { Budget } from '../budget.ts'
import { html } from '../html.ts'
import { Type } from '../shared/schema.ts'
import type { OperatorAudit } from '../stores/operator-audit.ts'
import type { OperatorSessions } from '../stores/operator-sessions.ts'
import type { Operators } from '../stores/operators.ts'
import { field, when } from './elements.ts'
import { fieldsReader } from './form.ts'
import { seeOther, showPage } from './layout.ts'
import { PASSWORD_LENGTH } from './password.ts'
import { requireOperator, setCookie } from './session.ts'
import { actorOf, type DashboardContext, type DashboardState } from './state.ts'

export interface SignInOptions {
  readonly operators: Pick<Operators, 'findSecret'>
  readonly sessions: OperatorSessions
  readonly audit: Pick<OperatorAudit, 'insert'>
  /** Tries that an address, and that an operator, still has. */
  readonly budgets: { readonly address: Budget; readonly operator: Budget }
  readonly verifyPassword: (password: string, stored: string | null) => Promise<boolean>
  readonly isSecure: boolean
  /** By what name people know the provider through which they may sign in as well; null when there is none. */
  readonly provider: string | null
}

/** GET and POST /sign-in, POST /sign-out. */
export function signInRoutes(options: SignInOptions): Router<DashboardState> {
  const router = new Router<DashboardState>()
  router.get('/sign-in', (ctx: DashboardContext) => showSignIn(ctx, options))
  router.post('/sign-in', (ctx: DashboardContext) => signIn(ctx, options))
  router.post('/sign-out', requireOperator, (ctx: DashboardContext) => signOut(ctx, options))
  return router
}

const readFields = fieldsReader(
  Type.Object({
    email: Type.String({ maxLength: 320 }),
    next: Type.Optional(Type.String()),
  }),
)

async function signIn(ctx: DashboardContext, options: SignInOptions): Promise<void> {
  const { operators, sessions, audit, verifyPassword, isSecure, provider } = options
  const { email, next } = readFields(ctx.state.form)
  const password = (ctx.state.form.get('password') ?? '').slice(0, PASSWORD_LENGTH.most + 1)
  const retrySeconds = await spend(options, { address: ctx.ip, email })
  if (retrySeconds !== null) {
    ctx.status = 429
    ctx.set('Retry-After', String(retrySeconds))
    const minutes = Math.ceil(retrySeconds / 60)
    return showSignIn(ctx, { provider, email, problem: `Too many tries. The next one is in ${minutes} min.` })
  }
  const operator = await operators.findSecret(email)
  // Also for those who do not exist: whoever asks does not learn from the time who does.
  const isRight = await verifyPassword(password, operator?.passwordHash ?? null)
  const actor = { ...actorOf(ctx), form: null, operator: operator && { id: operator.id, email: operator.email } }
  if (operator === null || !isRight) {
    // What was typed for an address may be a password in the wrong field: of strangers it is not kept.
    await audit.insert(actor, { action: 'sign-in.refused', object: operator?.id ?? null })
    ctx.status = 401
    return showSignIn(ctx, { provider, email, problem: 'The e-mail address or the password is not right.' })
  }
  await audit.insert(actor, { action: 'sign-in', object: operator.id })
  setCookie(ctx, { token: await sessions.insert(operator.id), isSecure })
  seeOther(ctx, isOwnPath(next) ? next : '/')
}

/** Seconds until there is another try; null when there is one now. */
async function spend({ budgets }: SignInOptions, { address, email }: { address: string; email: string }) {
  const name = createHash('sha256').update(email.toLowerCase()).digest('base64url')
  const spent = [await budgets.address(address), await budgets.operator(name)]
  const refused = spent.filter(({ allowed }) => !allowed)
  return refused.length === 0 ? null : Math.max(...refused.map(({ resetSeconds }) => resetSeconds))
}

/** Whether a browser that is sent there stays with us. */
export function isOwnPath(next: string | undefined): next is string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(next)
}

async function signOut(ctx: DashboardContext, { sessions, audit, isSecure }: SignInOptions): Promise<void> {
  await sessions.delete(ctx.state.token)
  await audit.insert({ ...actorOf(ctx), form: null }, { action: 'sign-out', object: ctx.state.operator?.id ?? null })
  setCookie(ctx, { token: null, isSecure })
  ctx.set('Clear-Site-Data', '"cache"')
  seeOther(ctx, '/sign-in')
}

export interface SignInPage {
  readonly provider: string | null
  readonly email?: string
  /** What went wrong. */
  readonly problem?: string
}

/** The page that asks who somebody is. */
export function showSignIn(ctx: DashboardContext, { provider, email, problem }: SignInPage): void {
  const query = new URLSearchParams(ctx.querystring)
  const next = ctx.state.form.get('next') ?? query.get('next') ?? ''
  const said = problem ?? (query.has('ended') ? 'Your session has ended. What you sent was not done.' : '')
  ctx.state.operator = null
  showPage(ctx, {
    title: 'Sign in',
    body: html`<form method="post" action="/sign-in" class="narrow">
${when(said, html`<p class="problem" role="alert">${said}</p>`)}
${when(
  provider,
  html`<a class="button" href="/sign-in/provider?next=${encodeURIComponent(next)}">Sign in with ${provider ?? ''}</a>
<p class="hint">or with the password of this dashboard:</p>`,
)}
<input type="hidden" name="next" value="${next}">
${field({ name: 'email', label: 'E-mail address', type: 'email', value: email, required: true, autocomplete: 'username' })}
${field({ name: 'password', label: 'Password', type: 'password', required: true, autocomplete: 'current-password' })}
<button>Sign in</button></form>`,
  })
}
