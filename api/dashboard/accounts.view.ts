import { type Html, html } from '../html.ts'
import type { AccountRecord, EditedAccount } from '../stores/accounts.ts'
import type { KeyRecord } from '../stores/api-keys.ts'
import type { LedgerEntry } from '../stores/ledger.ts'
import type { ShopRecord } from '../stores/shops.ts'
import type { FailureCount, UsageStep } from '../stores/usage.ts'
import type { WebhookEndpoint } from '../stores/webhooks.ts'
import {
  actForm,
  badge,
  choice,
  code,
  count,
  disclosure,
  facts,
  field,
  nextPage,
  searchForm,
  section,
  table,
  time,
  when,
} from './elements.ts'
import { presentKeys } from './keys.view.ts'
import { plotUsage, presentFailures } from './overview.ts'

interface List {
  readonly query: URLSearchParams
  readonly isFull: boolean
}

export function presentAccounts(accounts: readonly AccountRecord[], { query, q, isFull }: List & { q: string }): Html {
  return html`<p class="actions"><a class="button" href="/accounts/new">New account</a></p>
${searchForm({ action: '/accounts', body: field({ name: 'q', label: 'Name, e-mail address or id', type: 'search', value: q }) })}
${table({
  caption: 'Accounts',
  head: ['Name', 'E-mail', 'State', 'Credits', 'Kept for', 'Since'],
  rows: accounts.map(({ id, name, email, balance, isActive, retentionDays, createdAt }) => [
    html`<a href="/accounts/${id}">${name}</a>`,
    email ?? '',
    stateOf(isActive),
    count(balance),
    days(retentionDays),
    time(createdAt),
  ]),
  empty: 'There is no such account.',
  numeric: [3],
})}${nextPage(query, isFull ? (accounts.at(-1)?.id ?? null) : null)}`
}

export function presentNewAccount(csrf: string): Html {
  const credits = field({ name: 'credits', label: 'First credits', type: 'number', value: 0, min: 0 })
  return actForm({
    action: '/accounts',
    csrf,
    submit: 'Create account',
    body: html`${settingFields(null)}${credits}`,
  })
}

/** Keys that are shown now and never again. */
export function presentNewKeys({
  accountId,
  keys,
}: {
  accountId: string
  keys: readonly (readonly [string, string])[]
}): Html {
  return html`<p class="problem" role="status">These are shown once. Copy them now: only their hashes are kept.</p>
${facts(keys.map(([name, key]) => [name, code(key)]))}
<p><a class="button" href="/accounts/${accountId}">To the account</a></p>`
}

interface AccountPage {
  readonly account: EditedAccount
  readonly keys: readonly KeyRecord[]
  readonly ledger: readonly LedgerEntry[]
  readonly steps: readonly UsageStep[]
  readonly failures: readonly FailureCount[]
  readonly shops: readonly ShopRecord[]
  readonly endpoints: readonly WebhookEndpoint[]
  readonly csrf: string
}

export function presentAccount(page: AccountPage): Html {
  const { account, csrf } = page
  const { id, edition } = account
  const own = `?account=${encodeURIComponent(id)}`
  return html`${facts([
    ['Id', code(id)],
    ['State', stateOf(account.isActive)],
    ['Credits', count(account.balance)],
    ['Pictures are kept for', days(account.retentionDays)],
    ['Since', time(account.createdAt)],
  ])}
<p class="actions"><a href="/generations${own}">Generations</a> <a href="/products${own}">Products</a> <a href="/audit?about=${encodeURIComponent(id)}">Audit log</a></p>
<div class="columns">${section('Credits', presentCredits(page))}${section('Settings', presentSettings(account, csrf))}</div>
${section('Keys', presentKeys({ accountId: id, keys: page.keys, csrf }))}
${section('Use in 14 days', html`${plotUsage(page.steps, { step: 'day' })}${presentFailures(page.failures, id)}`)}
<div class="columns">${section('Shops', presentShops(page.shops, id))}${section('Webhooks', presentEndpoints(page.endpoints, id))}</div>
${section('Logo', presentLogo(account, csrf))}
${section(account.isActive ? 'Deactivate' : 'Activate', presentActive({ id, edition, isActive: account.isActive, csrf }))}`
}

function presentCredits({ account, ledger, csrf }: AccountPage): Html {
  const form = actForm({
    action: `/accounts/${account.id}/credits`,
    csrf,
    submit: 'Add credits',
    body: html`${field({ name: 'credits', label: 'Credits to add', type: 'number', min: 1, required: true })}
${field({ name: 'reason', label: 'Reason', required: true, minLength: 3, hint: 'Stands in the ledger and in the audit log.' })}`,
  })
  return html`${form}${entriesTable(ledger)}<p><a href="/accounts/${account.id}/ledger">The whole ledger</a></p>`
}

function presentSettings(account: EditedAccount, csrf: string): Html {
  const edition = html`<input type="hidden" name="edition" value="${account.edition}">`
  return actForm({
    action: `/accounts/${account.id}`,
    csrf,
    submit: 'Save settings',
    body: html`${edition}${settingFields(account)}`,
  })
}

/** What the settings of an account are called. */
export const SETTING_NAMES = {
  name: 'Name',
  email: 'E-mail address',
  isActive: 'Active',
  retentionDays: 'Pictures are kept for',
  writesPerMinute: 'Writes a minute',
  readsPerMinute: 'Reads a minute',
  monthlyGenerations: 'Generations a month',
  concurrentGenerations: 'Generations at the same time',
  creditsLowAt: 'Credits are low at',
} as const

function settingFields(account: AccountRecord | null): Html {
  const { settings = {}, name, email, retentionDays = 7 } = account ?? {}
  const limit = (setting: keyof typeof SETTING_NAMES & keyof AccountRecord['settings'], min: number) =>
    field({ name: setting, label: SETTING_NAMES[setting], type: 'number', min, value: settings[setting] })
  return html`${field({ name: 'name', label: SETTING_NAMES.name, value: name, required: true })}
${field({ name: 'email', label: SETTING_NAMES.email, type: 'email', value: email })}
${choice({
  name: 'retentionDays',
  label: SETTING_NAMES.retentionDays,
  options: [1, 3, 7].map((number) => [String(number), days(number)]),
  value: String(retentionDays),
})}
<fieldset><legend>Limits; an empty one is the installation's</legend><div class="pair">
${limit('writesPerMinute', 1)}${limit('readsPerMinute', 1)}${limit('monthlyGenerations', 1)}${limit('concurrentGenerations', 1)}${limit('creditsLowAt', 0)}</div></fieldset>`
}

function presentShops(shops: readonly ShopRecord[], accountId: string): Html {
  return html`${table({
    caption: 'Shops of the account',
    head: ['Domain', 'Platform', 'State'],
    rows: shops.map(({ id, domain, platform, isActive }) => [
      html`<a href="/shops/${id}">${domain}</a>`,
      platform,
      stateOf(isActive),
    ]),
    empty: 'It has no shop.',
  })}<p><a href="/shops/new?account=${encodeURIComponent(accountId)}">New shop</a></p>`
}

function presentEndpoints(endpoints: readonly WebhookEndpoint[], accountId: string): Html {
  return html`${table({
    caption: 'Webhooks of the account',
    head: ['Address', 'State'],
    rows: endpoints.map(({ id, url, isActive }) => [html`<a href="/webhooks/${id}">${url}</a>`, stateOf(isActive)]),
    empty: 'It is told of nothing.',
  })}<p><a href="/webhooks/new?account=${encodeURIComponent(accountId)}">New endpoint</a></p>`
}

function presentLogo({ id, logoKey }: EditedAccount, csrf: string): Html {
  const shown = html`<img class="logo" src="/accounts/${id}/logo" alt="The account's logo">
${actForm({ action: `/accounts/${id}/logo/remove`, csrf, submit: 'Remove the logo', danger: true })}`
  const upload = actForm({
    action: `/accounts/${id}/logo`,
    csrf,
    submit: 'Set the logo',
    upload: true,
    body: field({
      name: 'logo',
      label: 'Picture',
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
  csrf,
}: {
  id: string
  edition: string
  isActive: boolean
  csrf: string
}): Html {
  const body = html`<input type="hidden" name="edition" value="${edition}"><input type="hidden" name="active" value="${String(!isActive)}">
${field({ name: 'reason', label: 'Reason (optional)' })}`
  const submit = isActive ? 'Deactivate the account' : 'Activate the account'
  const form = actForm({ action: `/accounts/${id}/active`, csrf, submit, body, danger: isActive })
  return isActive
    ? disclosure('Refuse all of its keys and shops …', form)
    : html`<p>All of its keys and shops are refused.</p>${form}`
}

export function presentLedger(
  account: AccountRecord,
  { entries, query, isFull }: List & { entries: readonly LedgerEntry[] },
): Html {
  return html`<p><a href="/accounts/${account.id}">${account.name}</a> has ${count(account.balance)} credits.</p>
${entriesTable(entries)}${nextPage(query, isFull ? (entries.at(-1)?.id ?? null) : null)}`
}

function entriesTable(entries: readonly LedgerEntry[]): Html {
  return table({
    caption: 'Ledger, newest first',
    head: ['Time (UTC)', 'Kind', 'Amount', 'For'],
    rows: entries.map(({ createdAt, kind, amount, generationId, note }) => [
      time(createdAt),
      kind,
      amount > 0 ? `+${count(amount)}` : count(amount),
      generationId === null ? (note ?? '') : html`<a href="/generations/${generationId}">${code(generationId)}</a>`,
    ]),
    empty: 'Nothing has moved its credits.',
    numeric: [2],
  })
}

/** Whether something is in use. */
export function stateOf(isActive: boolean): Html {
  return isActive ? badge('active', 'good') : badge('inactive', 'bad')
}

function days(number: number): string {
  return number === 1 ? '1 day' : `${number} days`
}
