/** What a merchant says by attributes. */
export interface Settings {
  /** `gid://<platform>/Product/<id>` */
  readonly product: string
  /** `gid://<platform>/ProductVariant/<id>` */
  readonly variant: string | null
  /** What people call the product; empty when the page does not say. */
  readonly title: string
  /** A picture of the product, of the page itself. */
  readonly image: string | null
  /** Where the shop's proxy begins, without a slash at its end; null when there is none, and nothing can be tried on. */
  readonly proxy: string | null
  /** Where the service itself is, for events behind the publishable key. */
  readonly service: string | null
  readonly publishableKey: string | null
  /** Nothing is called and shown but what comes through the proxy. */
  readonly onlyProxy: boolean
  readonly privacyUrl: string | null
  readonly hasEmail: boolean
  readonly hasCart: boolean
  readonly hasAnalytics: boolean
}

/** Attributes that begin a new try-on when they change. */
export const OBSERVED = [
  ...['product', 'variant', 'product-title', 'product-image', 'proxy', 'service', 'publishable-key', 'only-proxy'],
  ...['privacy-url', 'email', 'cart', 'analytics', 'label', 'lang'],
]

/** The settings of an element; `script` is the address that the widget was loaded from, which names the proxy or the service. */
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
    // A proxy is the shop's own: another origin is the service itself, which takes no try-on without a signature.
    proxy: address('proxy') ?? (folder && isOfPage ? withoutSlash(folder.href) : null),
    service: address('service') ?? (folder && !isOfPage ? withoutSlash(folder.href) : null),
    publishableKey: host.getAttribute('publishable-key'),
    onlyProxy: host.hasAttribute('only-proxy'),
    privacyUrl: address('privacy-url'),
    hasEmail: host.getAttribute('email') !== 'off',
    hasCart: host.hasAttribute('cart'),
    hasAnalytics: host.getAttribute('analytics') !== 'off',
  }
}

/** Shops that know their products by bare ids are understood too: the service looks for the last part. */
function gid(kind: string, id: string): string {
  return id.startsWith('gid://') || id === '' ? id : `gid://shop/${kind}/${id}`
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '')
}
