import { html } from '../http/answers/html.ts'
import type { FoundProduct, ProductSearches } from '../products/product-search.store.ts'
import { Type } from '../shared/contract/schema.ts'
import { type AccountSearch, describeAccount, readAccount, suggestAccounts } from './account-field.ts'
import { PAGE } from './accounts.ts'
import { code, disclosure, nextPage, table, time, when } from './elements.ts'
import type { Fields } from './fields.ts'
import { fieldsReader, queryOf } from './form.ts'
import { searchForm } from './form-elements.ts'
import { accountLink } from './ids.ts'
import { showPage } from './layout.ts'
import { pages } from './pages.ts'
import type { DashboardContext } from './state.ts'

export interface ProductPagesOptions {
  readonly searches: ProductSearches
  readonly accounts: AccountSearch
}

/** GET /products: the catalogs of all accounts. */
export const productPages = pages<ProductPagesOptions>([
  { route: 'GET /products', role: 'viewer', menu: 'Products', isSearch: true, run: showProducts },
])

const readSearch = fieldsReader(
  Type.Object({
    q: Type.String({ maxLength: 200, default: '' }),
    account: Type.Optional(Type.String({ maxLength: 300 })),
    before: Type.Optional(Type.String({ maxLength: 100 })),
  }),
)

async function showProducts(ctx: DashboardContext, { searches, accounts }: ProductPagesOptions): Promise<void> {
  const query = queryOf(ctx)
  const { q, account = null, before = null } = readSearch(query)
  const { kept, forms } = ctx.state
  const accountId = account === null ? null : await readAccount(accounts, account)
  const [shown, suggestions] = [await describeAccount(accounts, accountId), await suggestAccounts(accounts)]
  const found = kept === null ? await searches.search({ accountId, text: q, before, limit: PAGE }) : []
  const fields = ({ field }: Fields) => html`${field({ name: 'q', label: 'Title or ID', type: 'search', value: q })}
${field({ name: 'account', label: 'Account', type: 'search', value: shown, suggestions })}`
  showPage(ctx, {
    title: 'Products',
    body: html`${searchForm({ action: '/products', forms, body: fields })}
${when(
  kept === null,
  html`${table({
    caption: 'Products, newest first',
    head: ['ID', 'Title', 'Account', 'Images', 'Last used (UTC)', 'Expires (UTC)'],
    rows: found.map((product) => [
      code(product.externalId),
      product.title ?? '',
      accountLink({ id: product.accountId, name: product.accountName }),
      presentImages(product),
      time(product.lastUsedAt),
      time(product.expiresAt),
    ]),
    empty:
      query.size > 0
        ? html`No product matches. <a href="/products">Show all products</a>`
        : 'There are no products yet. Accounts send them with try-ons, or beforehand (POST /tryon/v1/products).',
  })}`,
)}${nextPage(query, found.length === PAGE ? (found.at(-1)?.id ?? null) : null)}`,
  })
}

/** URLs are shown as text, not as links: the account controls them. */
function presentImages({ images }: FoundProduct) {
  const lines = images.map(({ sourceUrl, objectKey }) => html`<li>${code(objectKey ?? sourceUrl)}</li>`)
  return disclosure(images.length === 1 ? '1 image' : `${images.length} images`, html`<ul>${lines}</ul>`)
}
