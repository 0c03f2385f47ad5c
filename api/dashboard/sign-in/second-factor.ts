import { randomInt } from 'node:crypto'
import { html } from '../../http/answers/html.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { fieldsReader, queryOf } from '../forms/form.ts'
import { seeOther, showPage } from '../html/layout.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, pages } from '../page.ts'
import { actorOf, type SignedInContext } from '../state.ts'
import { createOperatorSessions } from './operator-sessions.store.ts'
import { presentOwnPassword } from './own-password.ts'
import { needsSecondFactor, type SecondFactorPolicy } from './required-second-factor.ts'
import { presentEnrolment, presentRecoveryCodes, presentSecondFactor } from './second-factor.view.ts'
import { createSecondFactors, type SecondFactors } from './second-factors.store.ts'
import { generateTotpSecret, presentTotpUri } from './totp.ts'
import type { SecondFactorCheck } from './verify-second-factor.ts'

export interface SecondFactorOptions {
  readonly factors: SecondFactors
  readonly audit: OperatorAudit
  readonly check: SecondFactorCheck
  readonly policy: SecondFactorPolicy
  readonly issuer: string
}

/** Second factor of the signed-in operator. */
export const secondFactorPages = pages<SecondFactorOptions>([
  { route: 'GET /second-factor', role: 'viewer', owns: anyOwner, run: showSecondFactor },
  {
    route: 'POST /second-factor/start',
    role: 'viewer',
    owns: anyOwner,
    done: {
      'second-factor.start': 'The set-up of an authenticator app was started.',
    },
    run: startEnrolment,
  },
  {
    route: 'POST /second-factor/confirm',
    role: 'viewer',
    owns: anyOwner,
    done: {
      'second-factor.confirm': { message: 'The second factor was set up.', showsSecret: true },
    },
    run: confirmEnrolment,
  },
  {
    route: 'POST /second-factor/recovery-codes',
    role: 'viewer',
    owns: anyOwner,
    done: {
      'second-factor.recovery-codes': { message: 'The recovery codes were replaced.', showsSecret: true },
    },
    run: replaceRecoveryCodes,
  },
  {
    route: 'POST /second-factor/remove',
    role: 'viewer',
    owns: anyOwner,
    done: { 'second-factor.remove': 'The second factor was removed.' },
    run: removeSecondFactor,
  },
])

async function showSecondFactor(ctx: SignedInContext, options: SecondFactorOptions): Promise<void> {
  const { factors, policy } = options
  const operator = ctx.state.operator
  const factor = await factors.find(operator.id)
  const isConfirming = ctx.state.forms.kept('/second-factor/confirm') !== null
  if (isConfirming && factor?.confirmedAt === null) return showEnrolment(ctx, options, factor)
  const required = needsSecondFactor(policy, operator)
  const asked = queryOf(ctx).has('required')
  showPage(ctx, {
    title: 'Password and second factor',
    body: html`${presentSecondFactor({ factor, required, asked, forms: ctx.state.forms })}${presentOwnPassword(ctx.state)}`,
  })
}

async function startEnrolment(ctx: SignedInContext, options: SecondFactorOptions): Promise<void> {
  const { id } = ctx.state.operator
  const secret = generateTotpSecret()
  await options.audit.record(actorOf(ctx), async (within) => {
    if (!(await createSecondFactors(within).start(id, secret)))
      throw new DrapeError('VALIDATION_FAILED', 'A second factor is already set up. Remove it first.')
    return { act: { action: 'second-factor.start', object: id } }
  })
  showEnrolment(ctx, options, { secret })
}

function showEnrolment(ctx: SignedInContext, { issuer }: SecondFactorOptions, { secret }: { secret: string }): void {
  const uri = presentTotpUri(secret, { issuer, account: ctx.state.operator.email })
  showPage(ctx, {
    title: 'Set up an authenticator app',
    body: presentEnrolment({ secret, uri, forms: ctx.state.forms }),
  })
}

const readCode = fieldsReader(Type.Object({ code: Type.String({ maxLength: 50 }) }))

async function confirmEnrolment(ctx: SignedInContext, options: SecondFactorOptions): Promise<void> {
  const { id } = ctx.state.operator
  const { code } = readCode(ctx.state.form)
  const codes = generateRecoveryCodes()
  const done = await options.audit.record(actorOf(ctx), async (within) => {
    const factors = createSecondFactors(within)
    if (!(await options.check(id, { code, confirm: true }, factors))) return null
    await factors.setRecoveryCodes(id, codes)
    // Ends sessions that were opened with the password alone.
    await createOperatorSessions(within).deleteOthers(id, ctx.state.token)
    return { act: { action: 'second-factor.confirm', object: id } }
  })
  if (done !== null) return showPage(ctx, { title: 'Second factor in use', body: presentRecoveryCodes(codes) })
  throw wrongCode()
}

function wrongCode(): DrapeError {
  const message = 'The code is wrong or was already used. Check the clock of your device and enter the next code.'
  return new DrapeError('VALIDATION_FAILED', message, { details: [{ path: 'code', message }] })
}

async function replaceRecoveryCodes(ctx: SignedInContext, options: SecondFactorOptions): Promise<void> {
  const codes = generateRecoveryCodes()
  await withCode(ctx, options, 'second-factor.recovery-codes', (factors, id) => factors.setRecoveryCodes(id, codes))
  showPage(ctx, { title: 'New recovery codes', body: presentRecoveryCodes(codes) })
}

async function removeSecondFactor(ctx: SignedInContext, options: SecondFactorOptions): Promise<void> {
  if (needsSecondFactor(options.policy, ctx.state.operator))
    throw new DrapeError('FORBIDDEN', 'Your role requires a second factor. An admin can reset it.')
  await withCode(ctx, options, 'second-factor.remove', (factors, id) => factors.delete(id))
  seeOther(ctx, '/second-factor', 'second-factor.remove')
}

/** Runs an action that requires a code. Throws `VALIDATION_FAILED` when the code is wrong. */
async function withCode(
  ctx: SignedInContext,
  { audit, check }: SecondFactorOptions,
  action: string,
  work: (factors: SecondFactors, operatorId: string) => Promise<unknown>,
): Promise<void> {
  const { id } = ctx.state.operator
  const { code } = readCode(ctx.state.form)
  await audit.record(actorOf(ctx), async (within) => {
    const factors = createSecondFactors(within)
    if (!(await check(id, { code }, factors))) throw wrongCode()
    await work(factors, id)
    return { act: { action, object: id } }
  })
}

const RECOVERY_CODES = 10
const RECOVERY_LENGTH = 12
/** Without ambiguous letters and digits. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** 59 random bits each. */
function generateRecoveryCodes(): string[] {
  const generate = () => Array.from({ length: RECOVERY_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return Array.from({ length: RECOVERY_CODES }, generate)
}
