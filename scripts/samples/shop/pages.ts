import { type Html, html } from '../../../api/http/answers/html.ts'
import dutch from './nl.json' with { type: 'json' }
import { PRODUCTS, type ShopProduct, SIZES } from './products.ts'
import { PREFIX } from './proxy.ts'

/** How a page of the shop integrates the widget. */
export interface Way {
  /** Destination of events with the publishable key; null: through the proxy of the shop, like all other requests. */
  readonly direct: { readonly apiUrl: string; readonly publishableKey: string } | null
  /** Whether the browser may connect only to the shop. */
  readonly onlyProxy: boolean
  readonly language: string
}

/** All products. */
export function presentShop(way: Way): string {
  const cards = PRODUCTS.map(
    ({ id, title, price, image }) => html`
      <li><a class="card" href="/products/${id}${queryOf(way)}">
        <img src="/images/${image}" alt="" width="700" height="875">
        <span class="name">${title}</span> <span class="price">${price}</span>
      </a></li>`,
  )
  const main = html`
    <main>
      <p class="lead">Cotton, dyed once and worn for years.</p>
      <h1>The summer shelf</h1>
      <ul class="shelf">${cards}</ul>
    </main>`
  return presentPage({ title: 'Halden', main, way })
}

/** One product, with the button. */
export function presentProduct(product: ShopProduct, way: Way): string {
  const main = html`
    <main class="product">
      <img src="/images/${product.image}" alt="${product.title}, laid out flat" width="700" height="875">
      <div class="buy">
        <h1>${product.title}</h1>
        <p class="price">${product.price}</p>
        <p>${product.text}</p>
        <fieldset class="sizes">
          <legend>Size</legend>
          ${SIZES.map(({ title, available }) => {
            const state = { markup: available ? (title === 'M' ? ' checked' : '') : ' disabled' }
            return html`<label><input type="radio" name="size" value="${title}"${state}>${title}</label>`
          })}
        </fieldset>
        <button type="button" class="add" id="add">Add to cart</button>
        ${presentWidget(product, way)}
        <ul class="facts"><li>Sent within two days</li><li>Thirty days to change your mind</li></ul>
      </div>
    </main>`
  return presentPage({ title: `${product.title} – Halden`, main, way })
}

/** A language without built-in texts. */
const OWN_TEXTS: Readonly<Record<string, object>> = { nl: dutch }

/** The lines that a merchant adds to a page. */
function presentWidget({ id, title, image, goesWith }: ShopProduct, { direct, onlyProxy, language }: Way): Html {
  const attributes = {
    product: id,
    'product-title': title,
    'product-image': `/images/${image}`,
    'privacy-url': '/privacy',
    cart: '',
    sizes: JSON.stringify(SIZES.map(({ title, available }) => ({ id: `${id}-${title}`, title, available }))),
    size: 'M',
    'try-with': JSON.stringify(
      PRODUCTS.filter((other) => other.id === goesWith).map((other) => ({ products: [other.id], title: other.title })),
    ),
    ...(direct && { 'publishable-key': direct.publishableKey, service: direct.apiUrl }),
    ...(onlyProxy && { 'only-proxy': '' }),
  }
  const written = Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)
  const own = OWN_TEXTS[language]
  // As data inside markup: no value may terminate the script element.
  const data = own
    ? [html`<script type="application/json">${{ markup: JSON.stringify(own).replaceAll('<', '\\u003c') }}</script>`]
    : []
  return html`<drape-try-on${written}>${data}</drape-try-on>`
}

export function presentPrivacy(way: Way): string {
  const main = html`
    <main class="text">
      <h1>Privacy</h1>
      <p>This shop is a demonstration. A photo that you try something on with goes to the try-on service of this installation.
      The service deletes the photo and the results after 7 days.</p>
    </main>`
  return presentPage({ title: 'Privacy – Halden', main, way })
}

export function presentMissing(way: Way): string {
  const main = html`<main class="text"><h1>Page not found</h1><p><a href="/">Back to the shelf</a></p></main>`
  return presentPage({ title: 'Halden', main, way })
}

function queryOf({ direct, onlyProxy, language }: Way): string {
  const query = new URLSearchParams()
  if (direct) query.set('way', 'key')
  if (onlyProxy) query.set('way', 'only-proxy')
  if (language !== 'en') query.set('lang', language)
  return query.size === 0 ? '' : `?${query}`
}

const WAYS = [
  ['', 'Proxy of the shop'],
  ['?way=key', 'Events with a publishable key'],
  ['?way=only-proxy', 'Proxy only'],
] as const

function presentPage({ title, main, way }: { title: string; main: Html; way: Way }): string {
  const ways = WAYS.map(([query, text]) => {
    const isCurrent = queryOf({ ...way, language: 'en' }) === query
    return html`<a href="${query || '?'}"${{ markup: isCurrent ? ' aria-current="true"' : '' }}>${text}</a>`
  })
  return html`<!doctype html>
<html lang="${way.language}"${{ markup: way.language === 'ar' ? ' dir="rtl"' : '' }}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/shop.css">
    <script src="${PREFIX}/widget.js" async></script>
    <script src="/shop.js" type="module"></script>
  </head>
  <body>
    <header>
      <a class="brand" href="/${queryOf(way)}">Halden</a>
      <nav aria-label="Shop"><a href="/${queryOf(way)}">Shelf</a> <span class="cart">Cart <output id="count" aria-label="Things in the cart">0</output></span></nav>
    </header>
    ${main}
    <footer>
      <p>A demo shop that shows how to integrate Drape.</p>
      <nav aria-label="Ways to use the widget">${ways}</nav>
    </footer>
  </body>
</html>
`.markup
}
