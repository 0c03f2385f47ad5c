import { DEFAULT_ADDRESS_GENERATIONS, DEFAULT_VISITOR_GENERATIONS } from '../generations/shop-limits.store.ts'
import { type Html, html } from '../http/answers/html.ts'
import type { RefusedRequest } from '../shops/refused-requests.ts'
import { type EditedShop, SHOP_PLATFORMS, type ShopRecord } from '../shops/shops.store.ts'
import type { VisitorCounts } from '../shops/visitor-addresses.store.ts'
import { SHOP_LEVELS, stateOf } from './accounts.view.ts'
import { code, copied, count, disclosure, facts, section, table, time, when } from './elements.ts'
import type { Fields } from './fields.ts'
import { actForm } from './form-elements.ts'
import { accountLink, copiedId } from './ids.ts'
import type { Forms } from './issued-forms.ts'
import type { ShopConsents } from './policies.ts'
import { presentPolicy } from './policies.view.ts'
import { presentSecrets } from './secrets.view.ts'

export function presentShops(
  shops: readonly ShopRecord[],
  { names, refused }: { names: ReadonlyMap<string, string>; refused: readonly RefusedRequest[] },
): Html {
  return html`${table({
    caption: 'Shops',
    head: ['Domain', 'Name', 'Platform', 'State', 'Generations per month', 'Account'],
    rows: shops.map(({ id, domain, name, platform, isActive, monthlyGenerations, accountId }) => [
      html`<a href="/shops/${id}">${domain}</a>`,
      name ?? '',
      platform,
      stateOf(isActive),
      monthlyGenerations === null ? 'any' : count(monthlyGenerations),
      accountLink({ id: accountId, name: names.get(accountId) }),
    ]),
    empty: html`There are no shops yet. <a href="/shops/new">Create one</a> for each domain that shows try-ons.`,
    numeric: [4],
  })}${when(refused.length > 0, section('Refused requests of unknown shops', refusedRequests(refused, 'No requests.')))}`
}

export function presentNewShop({
  account,
  suggestions,
  engines,
  forms,
}: {
  account: string
  suggestions: readonly string[]
  engines: readonly string[]
  forms: Forms
}): Html {
  return actForm({
    action: '/shops',
    forms,
    submit: 'Create shop',
    body: (
      fields,
    ) => html`${fields.field({ name: 'account', label: 'Account', value: account, required: true, suggestions, hint: 'Type a part of its name or e-mail address, or its ID.' })}
${fields.choice({ name: 'platform', label: 'Platform', options: SHOP_PLATFORMS.map((name) => [name, name] as const) })}
${fields.field({ name: 'domain', label: 'Domain', required: true, hint: 'Host name only, for example shop.example.' })}
${fields.field({ name: 'secret', label: 'Secret', type: 'password', hint: 'The shop signs its requests with this secret. Leave it empty for a plugin to generate one.' })}
${settingFields(fields, null, engines)}`,
  })
}

/** Labels of the shop settings. */
export const SHOP_SETTINGS = {
  name: 'Name',
  extraDomains: 'Extra domains',
  monthlyGenerations: 'Generations per month',
  addressGenerations: 'Generations per day and IP address',
  visitorGenerations: 'Generations per day of all visitors',
  requiresVisitorToken: 'Require a visitor token',
  requiresConsent: 'Require consent before a photo is stored',
  privacyContact: 'Contact for questions about data',
  defaultEngine: 'Default engine',
  safetyLevel: 'Safety level',
  allowsSwimwear: 'Images may show underwear and swimwear',
  adminUrl: 'URL of the platform’s API',
  billingAllowed: 'Bill try-ons of shoppers',
  isActive: 'Active',
} as const

const SWIMWEAR = [
  ['', 'as in the account'],
  ['true', 'yes'],
  ['false', 'no'],
] as const

function settingFields({ field, choice, tick }: Fields, shop: ShopRecord | null, names: readonly string[]): Html {
  const engines = [['', 'default of the account'] as const, ...names.map((name) => [name, name] as const)]
  return html`${field({ name: 'name', label: SHOP_SETTINGS.name, value: shop?.name })}
${field({ name: 'extraDomains', label: SHOP_SETTINGS.extraDomains, value: shop?.extraDomains.join(', '), hint: 'More domains that share links may point to, separated by commas.' })}
<div class="pair">${field({ name: 'monthlyGenerations', label: SHOP_SETTINGS.monthlyGenerations, type: 'number', min: 0, value: shop?.monthlyGenerations, hint: 'Empty: the limit of the account.' })}
${field({ name: 'addressGenerations', label: SHOP_SETTINGS.addressGenerations, type: 'number', min: 0, value: shop?.addressGenerations, hint: `Of visitors who are not signed in. Empty: ${DEFAULT_ADDRESS_GENERATIONS}.` })}
${field({ name: 'visitorGenerations', label: SHOP_SETTINGS.visitorGenerations, type: 'number', min: 0, value: shop?.visitorGenerations, hint: `Of all visitors who are not signed in. Empty: ${DEFAULT_VISITOR_GENERATIONS}.` })}</div>
${tick({ name: 'requiresVisitorToken', label: SHOP_SETTINGS.requiresVisitorToken, value: 'true', checked: shop?.requiresVisitorToken ?? false })}
${tick({ name: 'requiresConsent', label: SHOP_SETTINGS.requiresConsent, value: 'true', checked: shop?.requiresConsent ?? false })}
${field({ name: 'privacyContact', label: SHOP_SETTINGS.privacyContact, value: shop?.privacyContact, hint: 'Shown on the privacy page: an e-mail address, an https URL or an address. Empty: visitors contact the shop.' })}
${choice({ name: 'defaultEngine', label: SHOP_SETTINGS.defaultEngine, options: engines, value: shop?.defaultEngine ?? '' })}
${choice({ name: 'safetyLevel', label: SHOP_SETTINGS.safetyLevel, options: SHOP_LEVELS, value: shop?.safetyLevel ?? '' })}
${choice({ name: 'allowsSwimwear', label: SHOP_SETTINGS.allowsSwimwear, options: SWIMWEAR, value: String(shop?.allowsSwimwear ?? '') })}
${field({ name: 'adminUrl', label: SHOP_SETTINGS.adminUrl, type: 'url', value: shop?.adminUrl, hint: 'https only. Empty: the domain of the shop.' })}`
}

/** Shows a new secret, once. */
export function presentShopSecret({ id, secret }: { id: string; secret: string }): Html {
  return html`<p class="caution" role="status">This secret is shown once. Configure it in the shop’s proxy now.</p>
${facts([['Secret', copied(secret)]])}<p><a class="button quiet" href="/shops/${id}">Open the shop</a></p>`
}

interface ShopPage {
  readonly accountName: string | undefined
  readonly engines: readonly string[]
  readonly forms: Forms
  readonly spent: VisitorCounts
  readonly refused: readonly RefusedRequest[]
  readonly consents: ShopConsents
}

export function presentShop(
  shop: EditedShop,
  { accountName, engines, forms, spent, refused, consents }: ShopPage,
): Html {
  return html`${facts([
    ['ID', copiedId(shop.id)],
    ['Domain', shop.domain],
    ['Platform', shop.platform],
    ['State', stateOf(shop.isActive)],
    ['Account', accountLink({ id: shop.accountId, name: accountName })],
    ['End of the plan (UTC)', time(shop.planEndsAt)],
  ])}
<div class="columns">${section('Settings', settings(shop, { engines, forms }))}<div>${section('Secrets', secrets(shop, forms))}${section('Consent', presentPolicy(shop, { ...consents, forms }))}${section('Visitors today (UTC)', visitorsToday(shop, spent))}</div></div>
${section('Refused requests of the last 24 hours', refusedRequests(refused, 'All requests were signed correctly.'))}`
}

/** Reasons for refusals, which the responses do not contain. */
function refusedRequests(refused: readonly RefusedRequest[], empty: string): Html {
  return table({
    caption: 'Newest first; concurrent requests are sampled',
    head: ['Time (UTC)', 'Check', 'Site', 'Request', 'What to do', 'Address'],
    rows: refused.map(({ at, check, site, request, hint, text, network }) => [
      time(new Date(at)),
      code(check),
      site ?? '',
      code(request),
      html`${hint}${when(text, disclosure('Text that the server signs', html`<pre>${text ?? ''}</pre>`))}`,
      code(network),
    ]),
    empty,
  })
}

function visitorsToday(shop: ShopRecord, { generations, failed, addresses }: VisitorCounts): Html {
  const ofAll = shop.visitorGenerations ?? DEFAULT_VISITOR_GENERATIONS
  const ofOne = shop.addressGenerations ?? DEFAULT_ADDRESS_GENERATIONS
  return html`${facts([
    ['Generations of visitors who are not signed in', `${count(generations)} of ${count(ofAll)}`],
    ['Failed generations', count(failed)],
  ])}
${table({
  caption: 'IP addresses with the highest counts',
  head: ['Address (keyed hash)', 'Generations', 'Limit', 'Failed generations'],
  rows: addresses.map((one) => [code(one.address), count(one.generations), count(ofOne), count(one.failed)]),
  empty: 'No generations today.',
  numeric: [1, 2, 3],
})}`
}

function settings(shop: EditedShop, { engines, forms }: Pick<ShopPage, 'engines' | 'forms'>): Html {
  const token =
    shop.adminToken === null
      ? 'No token is stored.'
      : 'A token is stored. Empty: keep it, unless the URL changes; a new URL removes it.'
  return actForm({
    action: `/shops/${shop.id}`,
    forms,
    submit: 'Save settings',
    readable: true,
    body: (fields) => html`${fields.edition(shop.edition)}${settingFields(fields, shop, engines)}
${fields.field({ name: 'adminToken', label: 'Token of the platform’s API', type: 'password', hint: token })}
${fields.tick({ name: 'billingAllowed', label: SHOP_SETTINGS.billingAllowed, value: 'true', checked: shop.billingAllowed })}
${fields.tick({ name: 'isActive', label: SHOP_SETTINGS.isActive, value: 'true', checked: shop.isActive })}`,
  })
}

function secrets({ id, secrets: live }: ShopRecord, forms: Forms): Html {
  const add = actForm({
    action: `/shops/${id}/secrets`,
    forms,
    submit: 'Add secret',
    body: ({ field }) =>
      field({
        name: 'secret',
        label: 'New secret',
        type: 'password',
        hint: 'Empty: generate a secret. It is shown once.',
      }),
  })
  return presentSecrets(live, { path: `/shops/${id}`, add, forms })
}
