import { type Html, html } from '../../http/answers/html.ts'
import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { type DrapeError, invalidField } from '../../shared/contract/errors.ts'
import { actForm } from '../forms/form-elements.ts'
import { section } from '../html/elements.ts'
import { seeOther } from '../html/layout.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, pages } from '../page.ts'
import { actorOf, type SignedInContext } from '../state.ts'
import { spendAttempt } from './attempts.ts'
import { rememberBrowser } from './known-browser.ts'
import { createOperatorSessions } from './operator-sessions.store.ts'
import { createOperators, type Operators } from './operators.store.ts'
import { hashPassword, PASSWORD_LENGTH, type verifyPassword } from './password.ts'

export interface OwnPasswordOptions {
  readonly operators: Pick<Operators, 'findSecret'>
  readonly audit: OperatorAudit
  /** Remaining attempts of an operator. */
  readonly budget: RateLimiter
  readonly verifyPassword: typeof verifyPassword
  readonly isSecure: boolean
}

/** The password of the signed-in operator. The page of the second factor shows the form. */
export const ownPasswordPages = pages<OwnPasswordOptions>([
  {
    route: 'POST /second-factor/password',
    role: 'viewer',
    owns: anyOwner,
    done: { 'password.change': 'Your password was changed.' },
    run: changePassword,
  },
])

/** Empty for operators who signed in through a provider, and without passwords. */
export function presentOwnPassword({ operator, forms }: SignedInContext['state']): Html {
  if (operator.method === 'provider') return html``
  const { min: minLength } = PASSWORD_LENGTH
  const form = actForm({
    action: '/second-factor/password',
    forms,
    submit: 'Change the password',
    body: ({
      field,
    }) => html`${field({ name: 'password', label: 'Current password', type: 'password', required: true, autocomplete: 'current-password' })}
${field({ name: 'newPassword', label: 'New password', type: 'password', required: true, minLength, autocomplete: 'new-password', hint: `At least ${minLength} characters. Signs you out in other browsers.` })}
${field({ name: 'newPasswordAgain', label: 'New password again', type: 'password', required: true, autocomplete: 'new-password' })}`,
  })
  return section('Password', form)
}

async function changePassword(ctx: SignedInContext, options: OwnPasswordOptions): Promise<void> {
  const { id, accountId } = ctx.state.operator
  const chosen = readNewPassword(ctx.state.form)
  const from = await requirePassword(ctx, options)
  const to = await hashPassword(chosen)
  await options.audit.record(actorOf(ctx), async (within) => {
    if (!(await createOperators(within).replacePassword({ id, from, to }))) throw wrongPassword()
    await createOperatorSessions(within).deleteOthers(id, ctx.state.token)
    return { act: { action: 'password.change', object: id, accountId } }
  })
  rememberBrowser(ctx, { id, passwordHash: to }, options.isSecure)
  seeOther(ctx, '/second-factor', 'password.change')
}

/** Throws `VALIDATION_FAILED`. */
function readNewPassword(form: URLSearchParams): string {
  const password = form.get('newPassword') ?? ''
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min || password.length > max)
    throw invalidField('newPassword', `Enter ${min} to ${max} characters.`)
  if (/\p{Cc}/u.test(password)) throw invalidField('newPassword', 'Enter no control characters, such as tabs.')
  if (password !== form.get('newPasswordAgain'))
    throw invalidField('newPasswordAgain', 'Enter the same password as above.')
  return password
}

/** The stored hash of the current password, which the form contains. Throws `RATE_LIMITED` after too many attempts. */
async function requirePassword(
  ctx: SignedInContext,
  { operators, audit, budget, verifyPassword }: OwnPasswordOptions,
): Promise<string> {
  const { id, email, accountId } = ctx.state.operator
  await spendAttempt(budget, `password ${id}`)
  const password = (ctx.state.form.get('password') ?? '').slice(0, PASSWORD_LENGTH.max + 1)
  const { passwordHash = null } = (await operators.findSecret(email)) ?? {}
  if ((await verifyPassword(password, passwordHash)) && passwordHash !== null) return passwordHash
  await audit.insert({ ...actorOf(ctx), form: null }, { action: 'password.refused', object: id, accountId })
  throw wrongPassword()
}

function wrongPassword(): DrapeError {
  return invalidField('password', 'The current password is wrong.')
}
