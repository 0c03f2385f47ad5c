import { type KeyRecord, MAX_KEYS } from '../../accounts/api-keys.store.ts'
import { SCOPES, type Scope } from '../../accounts/restrictions.ts'
import { type Html, html } from '../../http/answers/html.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { badge, type Content, code, disclosure, table } from '../html/elements.ts'
import { shortId } from '../html/ids.ts'
import { time } from '../html/times.ts'

/** The keys of an account, by name and last characters, and their actions. */
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
    body: ({
      field,
      choice,
      ticks,
    }) => html`${field({ name: 'name', label: 'Name of the new key', required: true, hint: `What uses it, for example: checkout server. An account has at most ${MAX_KEYS} keys that are not revoked.` })}
${choice({
  name: 'kind',
  label: 'Type',
  options: [
    ['secret', 'secret, for servers'],
    ['test', 'secret, for tests: no credits, results without an engine'],
    ['publishable', 'publishable, for browsers'],
  ],
})}
${ticks({
  name: 'scope',
  legend: 'Scopes; none selected: everything',
  options: SCOPES.map((scope) => [scope, SCOPE_NAMES[scope]] as const),
  checked: () => false,
})}
${field({ name: 'days', label: 'Days until the key expires', type: 'number', min: 1, max: 3650, hint: 'Empty: never.' })}
${field({ name: 'cidrs', label: 'Allowed IP addresses', hint: 'IP addresses or CIDR ranges such as 203.0.113.0/24, separated by commas. Empty: any.' })}`,
  })
  return html`${table({
    caption: 'Keys',
    head: ['Name', 'Key', 'Scope', 'Allowed from', 'State', 'Created (UTC)', 'Last used (UTC)', 'Change'],
    actions: true,
    rows: keys.map((key): Content[] => [
      html`${key.name ?? html`<span class="none">no name</span>`}<br><span class="beneath">${shortId(key.id)}</span>`,
      code(`${key.isTest ? 'sk_test' : key.kind === 'secret' ? 'sk' : 'pk'}_…${key.lastFour}`),
      key.kind === 'publishable' ? 'send events' : (key.scopes?.join(', ') ?? 'everything'),
      key.allowedCidrs?.join(', ') ?? 'anywhere',
      stateOf(key),
      time(key.createdAt),
      time(key.lastUsedAt),
      key.revokedAt === null ? changes({ accountId, id: key.id, forms }) : '',
    ]),
    empty: 'The account has no keys, so it cannot call the API. Create one below.',
  })}${disclosure('New key …', form)}`
}

const SCOPE_NAMES: Readonly<Record<Scope, string>> = {
  'try-on': 'try-on: photos and generations',
  products: 'products: the catalog',
  read: 'read: generations, products, account',
  erase: 'erase: end users',
  webhooks: 'webhooks: listen, resend, test events',
  analytics: 'analytics: counts of visitors and orders',
}

function stateOf({ revokedAt, expiresAt }: KeyRecord): Html {
  if (revokedAt !== null) return html`${badge('revoked', 'quiet')} ${time(revokedAt)}`
  if (expiresAt === null) return badge('live', 'good')
  const hasExpired = expiresAt.getTime() <= Date.now()
  return html`${hasExpired ? badge('expired', 'bad') : badge('live until', 'good')} ${time(expiresAt)}`
}

function changes({ accountId, id, forms }: { accountId: string; id: string; forms: Forms }): Html {
  const place = `/accounts/${accountId}/keys/${id}`
  const replace = actForm({ action: `${place}/rotate`, forms, submit: 'Replace the key' })
  const revoke = actForm({ action: `${place}/revoke`, forms, submit: 'Revoke the key', danger: true })
  if (revoke.markup === '') return revoke
  return html`${disclosure(
    'Replace …',
    html`<p>A new key with the same name and scope is shown once, and this one stops working within a few seconds. To change keys without downtime, create another key first and revoke this one last.</p>${replace}`,
  )}${disclosure(
    'Revoke …',
    html`<p>Requests with this key are refused within a few seconds, and no new key is created. This cannot be undone.</p>${revoke}`,
  )}`
}
