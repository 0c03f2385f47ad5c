import { type Html, html } from '../../http/answers/html.ts'
import type { FoundProduct, ProductSearches } from '../../products/product-search.store.ts'
import type { AccountSearch } from '../forms/account-field.ts'
import { code, disclosure } from '../html/elements.ts'
import { ACCOUNT_COLUMN } from '../html/ids.ts'
import { type List, listPages } from '../html/list.ts'
import { anyOwner, pages } from '../page.ts'

export interface ProductPagesOptions {
  readonly searches: ProductSearches
  readonly accounts: AccountSearch
}

const LIST: List<ProductPagesOptions, FoundProduct> = {
  path: '/products',
  owns: anyOwner,
  menu: 'Products',
  columns: [
    { head: 'ID', of: ['externalId'], cell: ({ externalId }) => code(externalId) },
    { head: 'Title', of: ['title'] },
    ACCOUNT_COLUMN,
    { head: 'Images', of: ['images'], cell: presentImages },
    { head: 'Last used (UTC)', of: ['lastUsedAt'] },
    { head: 'Expires (UTC)', of: ['expiresAt'] },
    { head: 'Created (UTC)', of: ['createdAt'] },
  ],
  open: (_, { searches, accounts }) => ({
    title: 'Products',
    caption: 'Products, newest first',
    listing: searches,
    accounts,
    empty: 'There are no products yet. Accounts send them with try-ons, or beforehand (POST /tryon/v1/products).',
  }),
}

/** GET /products: the catalogs of all accounts. */
export const productPages = pages<ProductPagesOptions>(listPages(LIST))

/** URLs are shown as text, not as links: the account controls them. */
function presentImages({ images }: FoundProduct): Html {
  const lines = images.map(({ sourceUrl, objectKey }) => html`<li>${code(objectKey ?? sourceUrl)}</li>`)
  return disclosure(images.length === 1 ? '1 image' : `${images.length} images`, html`<ul>${lines}</ul>`)
}
