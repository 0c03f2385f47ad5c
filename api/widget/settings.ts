/** Settings from the attributes of the element. */
export interface Settings {
  /** `gid://<platform>/Product/<id>` */
  readonly product: string
  /** `gid://<platform>/ProductVariant/<id>` */
  readonly variant: string | null
  /** Title of the product; empty when the page gives none. */
  readonly title: string
  /** URL of an image of the product on the page. */
  readonly image: string | null
  /** Base URL of the shop's proxy, without a trailing slash; null without a proxy, which disables try-ons. */
  readonly proxy: string | null
  /** Base URL of the service, for events with a publishable key. */
  readonly service: string | null
  readonly publishableKey: string | null
  /** Whether to call and show only URLs behind the proxy. */
  readonly onlyProxy: boolean
  readonly privacyUrl: string | null
  /** Sizes of the product, in the order of the shop. */
  readonly sizes: readonly Size[]
  /** What the shopper can try on together with the product, in the order of the shop. */
  readonly looks: readonly Look[]
  readonly hasEmail: boolean
  readonly hasCart: boolean
  readonly hasAnalytics: boolean
}

/** A size that a shopper can put into the cart. */
export interface Size {
  /** As `variant` of the settings. */
  readonly variant: string
  readonly title: string
  readonly isSoldOut: boolean
}

/** Products that go with the product of the page. */
export interface Look {
  /** As `product` of the settings. */
  readonly products: readonly string[]
  readonly title: string
}

/** Attributes whose change starts a new try-on. */
export const OBSERVED = [
  ...['product', 'variant', 'product-title', 'product-image', 'proxy', 'service', 'publishable-key', 'only-proxy'],
  ...['privacy-url', 'email', 'cart', 'sizes', 'try-with', 'analytics', 'label', 'lang'],
]

/** Reads the settings of an element; `script` is the URL of the widget, which identifies the proxy or the service. */
export function readSettings(host: HTMLElement, script: string | null): Settings {
  const folder = script === null ? null : new URL('.', script)
  const isOfPage = folder?.origin === location.origin
  const address = (name: string) => {
    const given = host.getAttribute(name)
    return given === null ? null : withoutSlash(new URL(given, document.baseURI).href)
  }
  return {
    product: gid('Product', host.getAttribute('product') ?? ''),
    variant: host.hasAttribute('variant') ? gid('ProductVariant', host.getAttribute('variant') ?? '') : null,
    title: host.getAttribute('product-title')?.trim() ?? '',
    image: host.getAttribute('product-image'),
    // The proxy has the shop's origin: another origin is the service itself, which accepts no try-on without a
    // signature.
    proxy: address('proxy') ?? (folder && isOfPage ? withoutSlash(folder.href) : null),
    service: address('service') ?? (folder && !isOfPage ? withoutSlash(folder.href) : null),
    publishableKey: host.getAttribute('publishable-key'),
    onlyProxy: host.hasAttribute('only-proxy'),
    privacyUrl: address('privacy-url'),
    sizes: readList(host, 'sizes', readSize),
    looks: readList(host, 'try-with', readLook),
    hasEmail: host.getAttribute('email') !== 'off',
    hasCart: host.hasAttribute('cart'),
    hasAnalytics: host.getAttribute('analytics') !== 'off',
  }
}

type Item = Readonly<Record<string, unknown>>

function readList<T>(host: HTMLElement, name: string, read: (item: Item) => T): T[] {
  const json = host.getAttribute(name)
  if (json === null) return []
  try {
    return (JSON.parse(json) as readonly Item[]).map(read)
  } catch {
    console.warn(`drape-try-on: the attribute "${name}" is not a JSON list`)
    return []
  }
}

/** Reads `{ "id": 7001, "title": "M", "available": false }`. Without `available` a size can be bought. */
function readSize({ id, title, available }: Item): Size {
  return { variant: gid('ProductVariant', String(id)), title: String(title), isSoldOut: available === false }
}

/** Reads `{ "products": [102, 103], "title": "Jeans and coat" }`. */
function readLook({ products, title }: Item): Look {
  return { products: (products as readonly unknown[]).map((id) => gid('Product', String(id))), title: String(title) }
}

/** Accepts bare IDs: the service also looks up the part after the last slash. */
function gid(kind: string, id: string): string {
  return id.startsWith('gid://') || id === '' ? id : `gid://shop/${kind}/${id}`
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '')
}
