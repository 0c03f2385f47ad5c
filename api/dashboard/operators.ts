import { html } from '../http/answers/html.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import { randomBase62 } from '../shared/process/base62.ts'
import { STATES } from './accounts.view.ts'
import { fieldsReader } from './form.ts'
import { seeOther, showPage } from './layout.ts'
import { listPages } from './list.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { createOperators, type OperatorRecord, type Operators, ROLES } from './operators.store.ts'
import { changeColumn, OPERATOR_COLUMNS, presentNewOperator, presentNewPassword } from './operators.view.ts'
import { pages } from './pages.ts'
import { hashPassword } from './password.ts'
import { createSecondFactors } from './second-factors.store.ts'
import { actorOf, type SignedInContext } from './state.ts'

export interface OperatorPagesOptions {
  readonly operators: Operators
  readonly audit: OperatorAudit
  /** Whether operators may sign in with a password. */
  readonly passwords: boolean
}

/** Operators and their roles. */
export const operatorPages = pages<OperatorPagesOptions>([
  ...listPages<OperatorPagesOptions, OperatorRecord>({
    path: '/operators',
    role: 'admin',
    menu: 'Operators',
    columns: OPERATOR_COLUMNS,
    filters: [
      { of: 'role', label: 'Role', options: ROLES.map((role) => [role, role] as const) },
      { of: 'isActive', label: 'State', options: STATES },
    ],
    open: (ctx, { operators }) => ({
      title: 'Operators',
      caption: 'Operators',
      listing: operators.listing,
      columns: [changeColumn(ctx.state.operator?.id)],
      actions: html`<a class="button" href="#new-operator">New operator</a>`,
      empty: 'No operators found.',
      after: presentNewOperator(ctx.state.forms),
    }),
  }),
  {
    route: 'POST /operators',
    role: 'admin',
    form: '/operators',
    done: { 'operator.create': { message: 'The operator was created.', at: '/operators', showsSecret: true } },
    run: createOperator,
  },
  {
    route: 'POST /operators/:id',
    role: 'admin',
    form: '/operators',
    done: { 'operator.update': { message: 'The operator was changed.', at: '/operators' } },
    run: changeOperator,
  },
  {
    route: 'POST /operators/:id/second-factor/reset',
    role: 'admin',
    form: '/operators',
    done: { 'second-factor.reset': { message: 'The second factor of the operator was removed.', at: '/operators' } },
    run: resetSecondFactor,
  },
])

const RoleName = Type.Enum([...ROLES])
const readNew = fieldsReader(
  Type.Object({
    email: Type.String({ format: 'email', maxLength: 320 }),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    role: RoleName,
  }),
)

const PASSWORD_LENGTH = 24

async function createOperator(ctx: SignedInContext, { audit, passwords }: OperatorPagesOptions): Promise<void> {
  const { email, name = null, role } = readNew(ctx.state.form)
  const password = randomBase62(PASSWORD_LENGTH)
  const passwordHash = await hashPassword(password)
  await audit.record(actorOf(ctx), async (within) => {
    const { id } = await createOperators(within).insert({ email, name, passwordHash, role })
    return { act: { action: 'operator.create', object: id, details: { email, role } } }
  })
  if (!passwords) return seeOther(ctx, '/operators', 'created')
  showPage(ctx, { title: 'Operator created', body: presentNewPassword({ email, password }) })
}

/** Another operator: operators cannot change their own role, so an administrator always remains. */
async function findOther(ctx: SignedInContext, { operators }: OperatorPagesOptions): Promise<OperatorRecord> {
  const operator = await operators.findById(ctx.params.id)
  if (operator === null) throw new DrapeError('ROUTE_NOT_FOUND', `The operator ${ctx.params.id} does not exist.`)
  if (operator.id === ctx.state.operator.id)
    throw new DrapeError('FORBIDDEN', 'You cannot change your own account. Ask another admin.')
  return operator
}

const readChange = fieldsReader(Type.Object({ role: RoleName, isActive: Type.Boolean({ default: false }) }))

async function changeOperator(ctx: SignedInContext, options: OperatorPagesOptions): Promise<void> {
  const { id, email } = await findOther(ctx, options)
  const { role, isActive } = readChange(ctx.state.form)
  await options.audit.record(actorOf(ctx), async (within) => {
    const operators = createOperators(within)
    await operators.setRole(email, role)
    await operators.setActive(email, isActive)
    return { act: { action: 'operator.update', object: id, details: { email, role, isActive } } }
  })
  seeOther(ctx, '/operators', 'saved')
}

async function resetSecondFactor(ctx: SignedInContext, options: OperatorPagesOptions): Promise<void> {
  const { id, email } = await findOther(ctx, options)
  await options.audit.record(actorOf(ctx), async (within) => {
    await createSecondFactors(within).delete(id)
    return { act: { action: 'second-factor.reset', object: id, details: { email } } }
  })
  seeOther(ctx, '/operators', 'removed')
}
