import { type Html, html } from '../answers/html.ts'
import { SCOPES, type Scope } from '../keys/restrictions.ts'
import type { KeyRecord } from '../stores/api-keys.ts'
import { badge, type Content, code, disclosure, table, time } from './elements.ts'
import { actForm } from './form-elements.ts'
import type { Forms } from './issued-forms.ts'

/** The keys of an account, which are known by their ids alone, and what can be done with them. */
export function presentKeys({
  accountId,
  keys,
  forms,
}: {
  accountId: string
  keys: readonly KeyRecord[]
  forms: Forms
}): Html {
  const form = actForm({
    action: `/accounts/${accountId}/keys`,
    forms,
    submit: 'Create key',
    body: ({ field, choice, ticks }) => html`${choice({
      name: 'kind',
      label: 'Type of the new key',
      options: [
        ['secret', 'secret, for servers'],
        ['publishable', 'publishable, for browsers'],
      ],
    })}
${ticks({
  name: 'scope',
  legend: 'Only for these purposes; none ticked: everything',
  options: SCOPES.map((scope) => [scope, SCOPE_NAMES[scope]] as const),
  checked: () => false,
})}
${field({ name: 'days', label: 'Days until the key expires', type: 'number', min: 1, max: 3650, hint: 'Empty: never.' })}
${field({ name: 'cidrs', label: 'Allowed IP addresses', hint: 'IP addresses or CIDR ranges such as 203.0.113.0/24, separated by commas. Empty: any.' })}`,
  })
  return html`${table({
    caption: 'Keys',
    head: ['Id', 'Kind', 'May', 'From', 'State', 'Since (UTC)', 'Last use (UTC)', 'Change'],
    rows: keys.map((key): Content[] => [
      code(key.id),
      key.kind,
      key.kind === 'publishable' ? 'send events' : (key.scopes?.join(', ') ?? 'everything'),
      key.allowedCidrs?.join(', ') ?? 'anywhere',
      stateOf(key),
      time(key.createdAt),
      time(key.lastUsedAt),
      key.revokedAt === null ? changes({ accountId, id: key.id, forms }) : '',
    ]),
    empty: 'The account has no keys.',
  })}${form}`
}

const SCOPE_NAMES: Readonly<Record<Scope, string>> = {
  'try-on': 'try-on: photos and generations',
  products: 'products: the catalog',
  read: 'read: generations, products, account',
  erase: 'erase: end users',
}

function stateOf({ revokedAt, expiresAt }: KeyRecord): Html {
  if (revokedAt !== null) return html`${badge('revoked', 'quiet')} ${time(revokedAt)}`
  if (expiresAt === null) return badge('live', 'good')
  const hasExpired = expiresAt.getTime() <= Date.now()
  return html`${hasExpired ? badge('expired', 'bad') : badge('live until', 'good')} ${time(expiresAt)}`
}

function changes({ accountId, id, forms }: { accountId: string; id: string; forms: Forms }): Html {
  const place = `/accounts/${accountId}/keys/${id}`
  return disclosure(
    'End it …',
    html`<p>Requests with this key are refused from now on. To change over without a gap, create another key first.</p>
${actForm({ action: `${place}/rotate`, forms, submit: 'Replace with a new key', danger: true })}
${actForm({ action: `${place}/revoke`, forms, submit: 'Revoke it', danger: true })}`,
  )
}
