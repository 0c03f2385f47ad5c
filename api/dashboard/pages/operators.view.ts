import { type Html, html } from '../../http/answers/html.ts'
import type { Fields } from '../forms/fields.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { copied, disclosure, facts, section, when } from '../html/elements.ts'
import { accountLink } from '../html/ids.ts'
import type { Column } from '../html/list.view.ts'
import { type OperatorRecord, ROLES, type Role } from '../sign-in/operators.store.ts'
import { stateOf } from './accounts.view.ts'

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  viewer: 'viewer: reads everything except photos',
  support: 'support: also views images, cancels, redelivers, decides reviews and removals',
  billing: 'billing: also adds credits',
  admin: 'admin: everything',
}

export const OPERATOR_COLUMNS: readonly Column<OperatorRecord>[] = [
  { head: 'E-mail', of: ['email', 'id'], cell: ({ email }) => email },
  { head: 'Name', of: ['name'] },
  { head: 'Role', of: ['role'] },
  {
    head: 'Account',
    of: ['accountName', 'accountId'],
    cell: ({ accountId: id, accountName: name }) =>
      id === null ? 'all' : accountLink({ id, name: name ?? undefined }),
  },
  { head: 'State', of: ['isActive'], cell: ({ isActive }) => stateOf(isActive) },
  {
    head: 'Second factor',
    of: ['hasSecondFactor'],
    cell: ({ hasSecondFactor }) => (hasSecondFactor ? 'in use' : 'none'),
  },
  { head: 'Created (UTC)', of: ['createdAt'] },
]

/** The forms that change an operator, other than the signed-in one. */
export function changeColumn(own: string | undefined): Column<OperatorRecord> {
  return { head: 'Change', cell: (operator, forms) => (operator.id === own ? 'you' : changes(operator, forms)) }
}

export function newOperatorTitle(isOwner: boolean): string {
  return isOwner ? 'New member' : 'New operator'
}

/** The form of a new operator; without accounts, of another owner of the own one. */
export function presentNewOperator(forms: Forms, accounts: readonly string[] | null): Html {
  const title = newOperatorTitle(accounts === null)
  const rights = (fields: Fields) =>
    accounts === null
      ? html``
      : html`${roleChoice(fields, 'viewer')}${fields.field({ name: 'account', label: 'Account', suggestions: accounts, hint: 'Empty: all accounts. Otherwise an owner, who sees this account alone and manages its keys and members, whatever the role above.' })}`
  const create = actForm({
    action: '/operators',
    forms,
    submit: title.replace('New', 'Create'),
    body: (fields) => html`${fields.field({ name: 'email', label: 'E-mail address', type: 'email', required: true })}
${fields.field({ name: 'name', label: 'Name' })}${rights(fields)}`,
  })
  return html`<div id="new-operator">${section(title, create)}</div>`
}

function roleChoice({ choice }: Fields, value: Role): Html {
  return choice({ name: 'role', label: 'Role', options: ROLES.map((role) => [role, ROLE_NAMES[role]] as const), value })
}

function changes({ id, email, role, isActive, hasSecondFactor }: OperatorRecord, forms: Forms): Html {
  const body = (fields: Fields) =>
    html`${role === 'owner' ? '' : roleChoice(fields, role)}${fields.tick({ name: 'isActive', label: 'Active', value: 'true', checked: isActive })}`
  const reset = actForm({
    action: `/operators/${id}/second-factor/reset`,
    forms,
    submit: 'Reset the second factor',
    danger: true,
  })
  const remove = actForm({ action: `/operators/${id}/delete`, forms, submit: 'Delete the owner', danger: true })
  return disclosure(
    `Change ${email} …`,
    html`<p>Signs the operator out.</p>${actForm({ action: `/operators/${id}`, forms, submit: 'Save', body })}${when(hasSecondFactor, reset)}${when(role === 'owner', remove)}`,
  )
}

/** Shows a new password, once. */
export function presentNewPassword({ email, password }: { email: string; password: string }): Html {
  return html`<p class="caution" role="status">The password is shown once. Give it to the operator now, who can change it after a click on the e-mail address.</p>
${facts([
  ['E-mail', email],
  ['Password', copied(password)],
])}<p><a class="button quiet" href="/operators">Back to the list</a></p>`
}
