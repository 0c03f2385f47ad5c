import { html } from '../../http/answers/html.ts'
import { DrapeError, refusedValue } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { randomBase62 } from '../../shared/process/base62.ts'
import { type AccountSearch, readAccount, suggestAccounts } from '../forms/account-field.ts'
import { change } from '../forms/change.ts'
import { fieldsReader } from '../forms/form.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { listPages } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, listed, pages } from '../page.ts'
import {
  createOperators,
  type OperatorRecord,
  OperatorRole,
  type Operators,
  type Rights,
  ROLES,
  type Role,
} from '../sign-in/operators.store.ts'
import { hashPassword } from '../sign-in/password.ts'
import { actorOf, type SignedInContext } from '../state.ts'
import { STATES } from './accounts.view.ts'
import {
  changeColumn,
  newOperatorTitle,
  OPERATOR_COLUMNS,
  presentNewOperator,
  presentNewPassword,
} from './operators.view.ts'

export interface OperatorPagesOptions {
  readonly operators: Operators
  readonly accounts: AccountSearch
  readonly audit: OperatorAudit
  /** Whether operators may sign in with a password. */
  readonly passwords: boolean
}

/** Of an owner: the other owners of the account. */
const owns = listed<OperatorPagesOptions>(({ operators }) => operators.listing)

/** Operators and their roles, and the owners of accounts, who see and change those of their own account. */
export const operatorPages = pages<OperatorPagesOptions>([
  ...listPages<OperatorPagesOptions, OperatorRecord>({
    path: '/operators',
    role: 'admin',
    owns: anyOwner,
    menu: { name: 'Operators', ofOwners: 'Members' },
    columns: OPERATOR_COLUMNS,
    filters: [
      { of: 'role', label: 'Role', options: OperatorRole.enum.map((role) => [role, role] as const) },
      { of: 'isActive', label: 'State', options: STATES },
    ],
    open: openOperators,
  }),
  {
    route: 'POST /operators',
    role: 'admin',
    owns: anyOwner,
    done: { 'operator.create': { message: 'The operator was created.', showsSecret: true } },
    run: createOperator,
  },
  change({
    route: 'POST /operators/:id',
    role: 'admin',
    owns,
    action: 'operator.update',
    message: 'The operator was changed.',
    find: async (ctx, options) => ({ ...(await findOther(ctx, options)), typed: readChange(ctx.state.form) }),
    run: async (within, { email, role: before, typed: { role = before, isActive } }) => {
      const operators = createOperators(within)
      if (role !== 'owner') await operators.setRole(email, role)
      await operators.setActive(email, isActive)
      return { email, role, isActive }
    },
  }),
  change({
    route: 'POST /operators/:id/second-factor/reset',
    role: 'admin',
    owns,
    action: 'second-factor.reset',
    message: 'The second factor of the operator was removed.',
    find: findOther,
    run: async (within, { id, email }) => {
      await createOperators(within).resetSecondFactor(id)
      return { email }
    },
  }),
  // Frees the address, which an owner may have taken from a future operator.
  change({
    route: 'POST /operators/:id/delete',
    role: 'admin',
    action: 'operator.delete',
    message: 'The owner was deleted.',
    find: findOther,
    run: async (within, { id, email }) => {
      if (!(await createOperators(within).deleteOwner(id)))
        throw new DrapeError('FORBIDDEN', `${email} is not an owner of an account. Deactivate the operator instead.`)
      return { email }
    },
  }),
])

async function openOperators(
  { state: { forms, operator } }: SignedInContext,
  { operators, accounts }: OperatorPagesOptions,
): Promise<OpenList<OperatorRecord>> {
  const isOwner = operator.accountId !== null
  const title = isOwner ? 'Members' : 'Operators'
  return {
    title,
    caption: title,
    listing: operators.listing,
    columns: [changeColumn(operator.id)],
    actions: html`<a class="button" href="#new-operator">${newOperatorTitle(isOwner)}</a>`,
    empty: 'No operators found.',
    after: presentNewOperator(forms, isOwner ? null : await suggestAccounts(accounts)),
  }
}

const RoleName = Type.Optional(Type.Enum([...ROLES]))
const readNew = fieldsReader(
  Type.Object({
    email: Type.String({ format: 'email', maxLength: 320 }),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    role: RoleName,
    account: Type.Optional(Type.String({ maxLength: 300 })),
  }),
)

const PASSWORD_LENGTH = 24
/** That owners create; operators create more. */
const MAX_MEMBERS = 100

async function createOperator(ctx: SignedInContext, options: OperatorPagesOptions): Promise<void> {
  const { audit, passwords } = options
  const { email, name = null, ...typed } = readNew(ctx.state.form)
  const rights = await readRights(ctx, typed, options)
  const password = randomBase62(PASSWORD_LENGTH)
  const passwordHash = await hashPassword(password)
  const { accountId: own } = ctx.state.operator
  // Owners must not learn who else uses this installation.
  const refusal = own === null ? undefined : 'This address cannot be invited.'
  await audit.record(actorOf(ctx), async (within) => {
    const operators = createOperators(within)
    if (own !== null) await requireRoom(operators, own)
    const { id, role, accountId } = await operators.insert({ email, name, passwordHash, refusal, ...rights })
    return { act: { action: 'operator.create', object: id, accountId, details: { email, role } } }
  })
  if (!passwords) return seeOther(ctx, '/operators', 'operator.create')
  showPage(ctx, { title: 'Operator created', body: presentNewPassword({ email, password }) })
}

/** In a transaction, other invitations of the account wait for its end. Throws `VALIDATION_FAILED`. */
async function requireRoom(operators: Operators, accountId: string): Promise<void> {
  if ((await operators.countOwners(accountId)) < MAX_MEMBERS) return
  throw refusedValue('email', `An account has at most ${MAX_MEMBERS} members, those who were removed too.`)
}

/** An owner creates only owners of the own account, whatever the form says. */
async function readRights(
  { state: { operator } }: SignedInContext,
  { role = 'viewer', account }: { readonly role?: Role; readonly account?: string },
  { accounts, operators }: OperatorPagesOptions,
): Promise<Rights> {
  if (operator.accountId !== null) {
    // Before the hash of a password, which is costly.
    await requireRoom(operators, operator.accountId)
    return { accountId: operator.accountId }
  }
  if (account === undefined) return { role }
  const accountId = await readAccount(accounts, account)
  if ((await accounts.find(accountId)) === null)
    throw refusedValue('account', `The account ${accountId} does not exist.`)
  return { accountId }
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
