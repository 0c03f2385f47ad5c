import { type Html, html } from '../../http/answers/html.ts'
import type { RefusedRequest } from '../../shops/refused-requests.ts'
import { DEFAULT_ADDRESS_GENERATIONS, DEFAULT_VISITOR_GENERATIONS, SHOP_SETTINGS } from '../../shops/shop-settings.ts'
import { type EditedShop, type ListedShop, SHOP_PLATFORMS, type ShopRecord } from '../../shops/shops.store.ts'
import type { VisitorCounts } from '../../shops/visitor-addresses.store.ts'
import { type AccountField, presentAccountField } from '../forms/account-field.ts'
import { actForm, permittedLink } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { settingFields } from '../forms/setting-fields.ts'
import { code, copied, count, disclosure, facts, section, table, when } from '../html/elements.ts'
import { ACCOUNT_COLUMN, accountLink, copiedId } from '../html/ids.ts'
import type { Column, OpenList } from '../html/list.view.ts'
import { time } from '../html/times.ts'
import { stateOf } from './accounts.view.ts'
import type { EngineChoice } from './engine-names.ts'
import type { NextSteps } from './next-steps.ts'
import type { ShopConsents } from './policies.ts'
import { presentPolicy } from './policies.view.ts'
import { presentSecrets } from './secrets.view.ts'

export const SHOP_COLUMNS: readonly Column<ListedShop>[] = [
  { head: 'Domain', of: ['domain', 'id'], cell: ({ id, domain }) => html`<a href="/shops/${id}">${domain}</a>` },
  { head: 'Name', of: ['name'] },
  { head: 'Platform', of: ['platform'] },
  { head: 'State', of: ['isActive'], cell: ({ isActive }) => stateOf(isActive) },
  {
    head: 'Generations per month',
    of: ['monthlyGenerations'],
    cell: ({ monthlyGenerations: limit }) => (limit === null ? 'any' : count(limit)),
  },
  ACCOUNT_COLUMN,
  { head: 'Created (UTC)', of: ['createdAt'] },
]

/** The words of the list, and the refused requests of unknown shops below it. */
export function presentShopList(
  refused: readonly RefusedRequest[],
  forms: Forms,
): Pick<OpenList<ListedShop>, 'title' | 'caption' | 'empty' | 'after'> {
  return {
    title: 'Shops',
    caption: 'Shops',
    empty: html`There are no shops yet. ${permittedLink({ forms, path: '/shops/new' }, 'Create one', 'Create one')} for each domain that shows try-ons.`,
    after: when(
      refused.length > 0,
      section('Refused requests of unknown shops', refusedRequests(refused, 'No requests.')),
    ),
  }
}

export function presentNewShop(account: AccountField, engines: readonly EngineChoice[], forms: Forms): Html {
  return actForm({
    action: '/shops',
    forms,
    submit: 'Create shop',
    body: (fields) => html`${presentAccountField(fields, account)}
${fields.choice({ name: 'platform', label: 'Platform', options: SHOP_PLATFORMS.map((name) => [name, name] as const) })}
${fields.field({ name: 'domain', label: 'Domain', required: true, hint: 'Host name only, for example shop.example.' })}
${fields.field({ name: 'secret', label: 'Secret', type: 'password', hint: 'The shop signs its requests with this secret. Leave it empty for a plugin to generate one.' })}
${settingFields(fields, SHOP_SETTINGS, { values: { billingAllowed: true, isActive: true }, engines })}`,
  })
}

/** Shows a new secret, once. */
export function presentShopSecret({
  id,
  secret,
  nextSteps,
}: {
  id: string
  secret: string
  nextSteps: NextSteps
}): Html {
  return html`<p class="caution" role="status">This secret is shown once. Configure it in the shop’s proxy now.</p>
${facts([['Secret', copied(secret)]])}${nextSteps.forShop()}<p><a class="button quiet" href="/shops/${id}">Open the shop</a></p>`
}

interface ShopPage {
  readonly accountName: string | undefined
  readonly engines: readonly EngineChoice[]
  readonly forms: Forms
  readonly spent: VisitorCounts
  readonly refused: readonly RefusedRequest[]
  readonly consents: ShopConsents
}

export function presentShop(
  shop: EditedShop,
  { accountName, engines, forms, spent, refused, consents }: ShopPage,
): Html {
  return html`${refusedToken(shop)}${facts([
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

function refusedToken({ platform, adminRefusedAt, adminClientId, adminToken }: ShopRecord): Html {
  if (adminRefusedAt === null || platform !== 'shopify') return html``
  const cure =
    adminClientId === null
      ? 'Enter a new token'
      : `Check that the app is installed, its client ID, its secret${adminToken === null ? '' : ' and its refresh token'}`
  return html`<p class="caution" role="status">The platform has refused the token of this shop since ${time(adminRefusedAt)} (UTC). Products are not found and leads wait. ${cure}.</p>`
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
    ['Attempts without a result', count(failed)],
  ])}
${table({
  caption: 'IP addresses with the highest counts',
  head: ['Address (keyed hash)', 'Generations', 'Limit', 'Attempts without a result'],
  rows: addresses.map((one) => [code(one.address), count(one.generations), count(ofOne), count(one.failed)]),
  empty: 'No generations today.',
  numeric: [1, 2, 3],
})}`
}

function settings(shop: EditedShop, { engines, forms }: Pick<ShopPage, 'engines' | 'forms'>): Html {
  const token =
    shop.adminToken === null
      ? shop.adminClientId === null
        ? 'No token is stored.'
        : 'The token is obtained with the client ID.'
      : 'A token is stored. Empty: keep it, unless the URL or the client ID changes; a new one removes it.'
  return actForm({
    action: `/shops/${shop.id}`,
    forms,
    submit: 'Save settings',
    readable: true,
    body: (
      fields,
    ) => html`${fields.edition(shop.edition)}${settingFields(fields, SHOP_SETTINGS, { values: { ...shop }, engines })}
${fields.field({ name: 'adminToken', label: 'Token of the platform’s API', type: 'password', hint: `${token} With a client ID, a refresh token, or none.` })}`,
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
