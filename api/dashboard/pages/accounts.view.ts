import { ACCOUNT_COLUMNS, ACCOUNT_SETTINGS } from '../../accounts/account-settings.ts'
import type { EditedAccount, ListedAccount } from '../../accounts/accounts.store.ts'
import type { KeyRecord } from '../../accounts/api-keys.store.ts'
import type { LedgerEntry } from '../../accounts/ledger.store.ts'
import type { FailureCount, UsageStep } from '../../accounts/usage.store.ts'
import { type Html, html } from '../../http/answers/html.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import type { WebhookEndpoint } from '../../webhooks/webhooks.store.ts'
import type { Fields } from '../forms/fields.ts'
import { actForm, permittedLink } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { settingFields } from '../forms/setting-fields.ts'
import { badge, copied, count, disclosure, facts, section, table, when } from '../html/elements.ts'
import { accountLink, copiedId } from '../html/ids.ts'
import { type Column, presentRows } from '../html/list.view.ts'
import { time } from '../html/times.ts'
import type { EngineChoice } from './engine-names.ts'
import { presentKeys } from './keys.view.ts'
import { LEDGER_COLUMNS, LEDGER_WORDS } from './ledger.view.ts'
import type { NextSteps } from './next-steps.ts'
import { plotUsage, presentFailures } from './usage.view.ts'

export const ACCOUNT_LIST: readonly Column<ListedAccount>[] = [
  { head: 'Name', of: ['name', 'id'], cell: accountLink },
  { head: 'E-mail', of: ['email'] },
  { head: 'State', of: ['isActive'], cell: ({ isActive }) => stateOf(isActive) },
  { head: 'Credits', of: ['balance'] },
  { head: 'Images stored for', of: ['retentionDays'], cell: ({ retentionDays }) => days(retentionDays) },
  { head: 'Created (UTC)', of: ['createdAt'] },
]

const SETTINGS = { ...ACCOUNT_COLUMNS, ...ACCOUNT_SETTINGS }

export function presentNewAccount({ engines, forms }: Pick<AccountPage, 'engines' | 'forms'>): Html {
  return actForm({
    action: '/accounts',
    forms,
    submit: 'Create account',
    body: (fields) =>
      html`${settingFields(fields, SETTINGS, { values: { retentionDays: 7 }, engines })}${fields.field({ name: 'credits', label: 'Initial credits', type: 'number', value: 0, min: 0 })}`,
  })
}

/** Shows new keys, once. */
export function presentNewKeys({
  accountId,
  keys,
  nextSteps,
}: {
  accountId: string
  /** Names and keys; the first one is for servers, unless it is the only one. */
  keys: readonly (readonly [name: string, key: string])[]
  nextSteps: NextSteps
}): Html {
  const secret = keys.map(([, key]) => key).find((key) => key.startsWith('sk_'))
  const note =
    keys.length === 1
      ? 'This key is shown once. Copy it now: only its hash is stored.'
      : 'These keys are shown once. Copy them now: only their hashes are stored.'
  return html`<p class="caution" role="status">${note}</p>
${facts(keys.map(([name, key]) => [name, copied(key)]))}
${secret === undefined ? html`` : nextSteps.forKey(secret)}
<p><a class="button quiet" href="/accounts/${accountId}">Open the account</a></p>`
}

interface AccountPage {
  readonly account: EditedAccount
  readonly keys: readonly KeyRecord[]
  readonly ledger: readonly LedgerEntry[]
  readonly steps: readonly UsageStep[]
  readonly failures: readonly FailureCount[]
  readonly shops: readonly ShopRecord[]
  readonly endpoints: readonly WebhookEndpoint[]
  readonly engines: readonly EngineChoice[]
  readonly forms: Forms
}

export function presentAccount(page: AccountPage): Html {
  const { account, forms } = page
  const { id, edition } = account
  return html`${facts([
    ['ID', copiedId(id)],
    ['State', stateOf(account.isActive)],
    ['Credits', count(account.balance)],
    ['Images stored for', days(account.retentionDays)],
    ['Created (UTC)', time(account.createdAt)],
  ])}
<div class="columns"><div>${section('Credits', presentCredits(page))}${section('Shops', presentShops(page))}${section('Webhooks', presentEndpoints(page))}${section('Logo', presentLogo(account, forms))}</div>${section('Settings', presentSettings(page))}</div>
${section('Keys', presentKeys({ accountId: id, keys: page.keys, forms }))}
${section('Usage in the last 14 days', html`${plotUsage(page.steps, { step: 'day', within: 'the last 14 days' })}${presentFailures(page.failures, id)}`)}
${section(account.isActive ? 'Deactivate' : 'Activate', presentActive({ id, edition, isActive: account.isActive, forms }))}`
}

/** Pages about the account. */
export function presentAccountLinks(id: string, forms: Forms): Html {
  const own = `?account=${encodeURIComponent(id)}`
  return html`<a class="button quiet" href="/accounts/${id}/requests">Requests</a> <a class="button quiet" href="/generations${own}">Generations</a> <a class="button quiet" href="/products${own}">Products</a> ${permittedLink({ forms, path: `/audit?q=${encodeURIComponent(id)}`, className: 'button quiet' }, 'Audit log')}`
}

function presentCredits({ account, ledger, forms }: AccountPage): Html {
  const form = actForm({
    action: `/accounts/${account.id}/credits`,
    forms,
    submit: 'Change balance',
    body: ({
      field,
    }) => html`${field({ name: 'credits', label: 'Credits to add', type: 'number', min: -account.balance, required: true, hint: 'A negative number removes credits.' })}
${field({ name: 'reason', label: 'Reason', required: true, minLength: 3, hint: 'Recorded in the ledger and in the audit log.' })}`,
  })
  return html`${form}${presentRows({ ...LEDGER_WORDS, columns: LEDGER_COLUMNS, rows: ledger, forms })}<p><a href="/accounts/${account.id}/ledger">Full ledger</a></p>`
}

function presentSettings({ account, engines, forms }: AccountPage): Html {
  return actForm({
    action: `/accounts/${account.id}`,
    forms,
    submit: 'Save settings',
    readable: true,
    body: (fields) =>
      html`${fields.edition(account.edition)}${settingFields(fields, SETTINGS, { values: { ...account, ...account.settings }, engines })}`,
  })
}

function presentShops({ shops, account: { id: accountId }, forms }: AccountPage): Html {
  return html`${table({
    caption: 'Shops of the account',
    head: ['Domain', 'Platform', 'State'],
    rows: shops.map(({ id, domain, platform, isActive }) => [
      html`<a href="/shops/${id}">${domain}</a>`,
      platform,
      stateOf(isActive),
    ]),
    empty:
      'The account has no shops. Add one to show try-ons in its pages; an account that only calls the API needs none.',
  })}<p>${permittedLink({ forms, path: `/shops/new?account=${encodeURIComponent(accountId)}` }, 'New shop')}</p>`
}

function presentEndpoints({ endpoints, account: { id: accountId }, forms }: AccountPage): Html {
  return html`${table({
    caption: 'Webhooks of the account',
    head: ['URL', 'State'],
    rows: endpoints.map(({ id, url, isActive }) => [html`<a href="/webhooks/${id}">${url}</a>`, stateOf(isActive)]),
    empty: 'The account has no webhooks. Add an endpoint to be notified when a generation ends, instead of polling.',
  })}<p>${permittedLink({ forms, path: `/webhooks/new?account=${encodeURIComponent(accountId)}` }, 'New endpoint')}</p>`
}

function presentLogo({ id, logoKey }: EditedAccount, forms: Forms): Html {
  const shown = html`<img class="logo" src="/accounts/${id}/logo" alt="The account's logo">
${actForm({ action: `/accounts/${id}/logo/remove`, forms, submit: 'Remove the logo', danger: true })}`
  const upload = actForm({
    action: `/accounts/${id}/logo`,
    forms,
    submit: 'Set the logo',
    upload: true,
    body: ({ field }) =>
      field({
        name: 'logo',
        label: 'Image',
        type: 'file',
        required: true,
        hint: 'JPEG, PNG or WebP up to 10 MB.',
      }),
  })
  return html`${when(logoKey, shown)}${upload}`
}

function presentActive({
  id,
  edition,
  isActive,
  forms,
}: {
  id: string
  edition: string
  isActive: boolean
  forms: Forms
}): Html {
  const body = ({ field, hidden, edition: seen }: Fields) =>
    html`${seen(edition)}${hidden('active', String(!isActive))}${field({ name: 'reason', label: 'Reason (optional)' })}`
  const submit = isActive ? 'Deactivate the account' : 'Activate the account'
  const form = actForm({ action: `/accounts/${id}/active`, forms, submit, body, danger: isActive })
  return isActive
    ? disclosure('Reject all requests of its keys and shops …', form)
    : html`<p>All requests of its keys and shops are rejected.</p>${form}`
}

/** Values of a filter. */
export const STATES = [
  ['true', 'active'],
  ['false', 'inactive'],
] as const

/** Badge for an active or inactive object. */
export function stateOf(isActive: boolean): Html {
  return isActive ? badge('active', 'good') : badge('inactive', 'bad')
}

function days(number: number): string {
  return number === 1 ? '1 day' : `${number} days`
}
