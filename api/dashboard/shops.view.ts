import { type Html, html } from '../html.ts'
import { type EditedShop, SHOP_PLATFORMS, type ShopRecord } from '../stores/shops.ts'
import { stateOf } from './accounts.view.ts'
import { actForm, choice, code, count, disclosure, facts, field, section, table, tick, time } from './elements.ts'

export function presentShops(shops: readonly ShopRecord[]): Html {
  return html`<p class="actions"><a class="button" href="/shops/new">New shop</a></p>
${table({
  caption: 'Shops',
  head: ['Domain', 'Name', 'Platform', 'State', 'Generations a month', 'Account'],
  rows: shops.map(({ id, domain, name, platform, isActive, monthlyGenerations, accountId }) => [
    html`<a href="/shops/${id}">${domain}</a>`,
    name ?? '',
    platform,
    stateOf(isActive),
    monthlyGenerations === null ? 'any' : count(monthlyGenerations),
    html`<a href="/accounts/${accountId}">${code(accountId)}</a>`,
  ]),
  empty: 'There is no shop.',
  numeric: [4],
})}`
}

export function presentNewShop({ accountId, csrf }: { accountId: string; csrf: string }): Html {
  return actForm({
    action: '/shops',
    csrf,
    submit: 'Create shop',
    body: html`${field({ name: 'account', label: 'Account (id)', value: accountId, required: true })}
${choice({ name: 'platform', label: 'Platform', options: SHOP_PLATFORMS.map((name) => [name, name] as const) })}
${field({ name: 'domain', label: 'Domain', required: true, hint: 'Bare, as in shop.example.' })}
${field({ name: 'secret', label: 'Secret', type: 'password', hint: 'What its proxy signs with. For a plugin it is made when it is left empty.' })}
${settingFields(null)}`,
  })
}

/** What the settings of a shop are called. */
export const SHOP_SETTINGS = {
  name: 'Name',
  monthlyGenerations: 'Generations a month',
  adminUrl: 'Address of the platform’s API',
  billingAllowed: 'Shoppers’ try-ons may be billed',
  isActive: 'Active',
} as const

function settingFields(shop: ShopRecord | null): Html {
  return html`${field({ name: 'name', label: SHOP_SETTINGS.name, value: shop?.name })}
${field({ name: 'monthlyGenerations', label: SHOP_SETTINGS.monthlyGenerations, type: 'number', min: 0, value: shop?.monthlyGenerations, hint: 'Empty: no limit but the account’s.' })}
${field({ name: 'adminUrl', label: SHOP_SETTINGS.adminUrl, type: 'url', value: shop?.adminUrl })}`
}

/** A secret that is shown now and never again. */
export function presentShopSecret({ id, secret }: { id: string; secret: string }): Html {
  return html`<p class="problem" role="status">This is shown once. Give it to the shop’s proxy now.</p>
${facts([['Secret', code(secret)]])}<p><a class="button" href="/shops/${id}">To the shop</a></p>`
}

export function presentShop(shop: EditedShop, csrf: string): Html {
  return html`${facts([
    ['Id', code(shop.id)],
    ['Domain', shop.domain],
    ['Platform', shop.platform],
    ['State', stateOf(shop.isActive)],
    ['Account', html`<a href="/accounts/${shop.accountId}">${code(shop.accountId)}</a>`],
    ['The plan ends (UTC)', time(shop.planEndsAt)],
  ])}
<div class="columns">${section('Settings', settings(shop, csrf))}${section('Secrets', secrets(shop, csrf))}</div>`
}

function settings(shop: EditedShop, csrf: string): Html {
  const token = shop.adminToken === null ? 'There is none.' : 'There is one, which stays when this is empty.'
  return actForm({
    action: `/shops/${shop.id}`,
    csrf,
    submit: 'Save settings',
    body: html`<input type="hidden" name="edition" value="${shop.edition}">${settingFields(shop)}
${field({ name: 'adminToken', label: 'Token of the platform’s API', type: 'password', hint: token })}
${tick({ name: 'billingAllowed', label: SHOP_SETTINGS.billingAllowed, value: 'true', checked: shop.billingAllowed })}
${tick({ name: 'isActive', label: SHOP_SETTINGS.isActive, value: 'true', checked: shop.isActive })}`,
  })
}

function secrets({ id, secrets: live }: ShopRecord, csrf: string): Html {
  const add = actForm({
    action: `/shops/${id}/secrets`,
    csrf,
    submit: 'Add secret',
    body: field({
      name: 'secret',
      label: 'New secret',
      type: 'password',
      hint: 'Made, and shown once, when it is left empty.',
    }),
  })
  const remove = actForm({ action: `/shops/${id}/secrets/remove`, csrf, submit: 'Remove the older one', danger: true })
  return html`${table({
    caption: 'Live secrets, newest first',
    head: ['Live since (UTC)'],
    rows: live.map(({ createdAt }) => [time(new Date(createdAt))]),
    empty: 'It has no secret.',
  })}${live.length < 2 ? add : disclosure('End the older one …', remove)}`
}
