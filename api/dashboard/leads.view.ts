import { type Html, html } from '../http/answers/html.ts'
import type { ShopRecord } from '../shops/shops.store.ts'
import type { ShopLeads } from '../storefront/leads/leads.store.ts'
import { count, disclosure, facts, section, table, when } from './elements.ts'
import type { Fields } from './fields.ts'
import { actForm } from './form-elements.ts'
import type { Forms } from './issued-forms.ts'

export function presentLeads(shops: readonly ShopLeads[]): Html {
  return html`<p>E-mail addresses that shoppers left. Drape stores the addresses of shops whose platform stores none, and delivers the others to the platform.</p>
${table({
  caption: 'Leads by shop',
  head: ['Shop', 'Stored', 'Pending delivery', 'Rejected by the platform', 'Last reason'],
  rows: shops.map(({ shopId, domain, kept, waiting, refused, reason }) => [
    html`<a href="/leads/${shopId}">${domain}</a>`,
    count(kept),
    count(waiting),
    count(refused),
    reason ?? '',
  ]),
  empty: html`No shopper has left an e-mail address. A row appears when the widget of a <a href="/shops">shop</a> asks for addresses and a shopper leaves one.`,
  numeric: [1, 2, 3],
})}`
}

export function presentShopLeads(shop: ShopRecord, counted: ShopLeads | null, forms: Forms): Html {
  const { kept = 0, waiting = 0, refused = 0, reason = null } = counted ?? {}
  const action = (name: string) => `/leads/${shop.id}/${name}`
  const why = ({ field }: Fields) =>
    field({
      name: 'reason',
      label: 'Reason',
      required: true,
      minLength: 3,
      hint: 'Recorded in the audit log.',
    })
  const retry = actForm({ action: action('retry'), forms, submit: 'Retry rejected deliveries' })
  const deletion = actForm({
    action: action('delete'),
    forms,
    submit: 'Delete the address',
    danger: true,
    body: (fields) =>
      html`${fields.field({ name: 'email', label: 'E-mail address', type: 'email', required: true })}${why(fields)}`,
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
    actForm({ action: action('export'), forms, submit: 'Export as CSV', body: why }),
  )}${section('Erasure', disclosure('Delete an address …', deletion))}</div>`
}
