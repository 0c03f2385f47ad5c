import { type Html, html } from '../../http/answers/html.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import type { ShopLeads } from '../../storefront/leads/leads.store.ts'
import { reasonField } from '../forms/fields.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { count, disclosure, facts, section, when } from '../html/elements.ts'
import { ACCOUNT_COLUMN } from '../html/ids.ts'
import type { Chosen, Column } from '../html/list.view.ts'

export const LEAD_COLUMNS: readonly Column<ShopLeads>[] = [
  { head: 'Shop', of: ['domain', 'id'], cell: ({ id, domain }) => html`<a href="/leads/${id}">${domain}</a>` },
  { head: 'Stored', of: ['kept'] },
  { head: 'Pending delivery', of: ['waiting'] },
  { head: 'Rejected by the platform', of: ['refused'] },
  { head: 'Last reason', of: ['reason'] },
  ACCOUNT_COLUMN,
]

export const LEAD_WORDS = {
  title: 'Leads',
  caption: 'Leads by shop',
  before: html`<p>E-mail addresses that shoppers left. Drape stores the addresses of shops whose platform stores none, and delivers the others to the platform.</p>`,
  empty: html`No shopper has left an e-mail address. A row appears when the widget of a <a href="/shops">shop</a> asks for addresses and a shopper leaves one.`,
} as const

export const RETRY_LEADS: Chosen<ShopLeads> = {
  action: '/leads/retry',
  submit: 'Retry rejected deliveries of the chosen shops',
  isChoosable: ({ refused }) => refused > 0,
}

export function presentShopLeads(shop: ShopRecord, counted: ShopLeads | null, forms: Forms): Html {
  const { kept = 0, waiting = 0, refused = 0, reason = null } = counted ?? {}
  const action = (name: string) => `/leads/${shop.id}/${name}`
  const retry = actForm({ action: action('retry'), forms, submit: 'Retry rejected deliveries' })
  const deletion = actForm({
    action: action('delete'),
    forms,
    submit: 'Delete the address',
    danger: true,
    body: (fields) =>
      html`${fields.field({ name: 'email', label: 'E-mail address', type: 'email', required: true })}${reasonField(fields)}`,
  })
  return html`${facts([
    ['Shop', html`<a href="/shops/${shop.id}">${shop.domain}</a>`],
    ['Stored by Drape', count(kept)],
    ['Pending delivery', count(waiting)],
    ['Rejected by the platform', count(refused)],
    ['Last reason', reason ?? 'none'],
  ])}${when(refused > 0, retry)}
<div class="columns">${section(
    'Export',
    actForm({ action: action('export'), forms, submit: 'Export as CSV', body: reasonField }),
  )}${section('Erasure', disclosure('Delete an address …', deletion))}</div>`
}
