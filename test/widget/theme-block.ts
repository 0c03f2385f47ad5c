import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Liquid, Tag, type TagToken, type TopLevelToken } from 'liquidjs'

const EXTENSION = new URL('../../clients/shopify/extensions/try-on/', import.meta.url)
export const readExtension = (path: string) => readFile(new URL(path, EXTENSION), 'utf8')

/** The settings of the block's schema, by their ids. */
export async function readBlockSettings(): Promise<{ id: string; label: string; default?: unknown }[]> {
  const [, schema] = (await readExtension('blocks/try-on.liquid')).match(/{% schema %}(.*){% endschema %}/s) ?? []
  return JSON.parse(schema).settings
}

/** The HTML of the block for a product, with the defaults of its settings where none is given. */
export async function renderBlock(product: object, settings: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const defaults = Object.fromEntries((await readBlockSettings()).map((setting) => [setting.id, setting.default]))
  const liquid = new Liquid({ strictFilters: true })
  // Shopify's own: the schema prints nothing, an asset has an address.
  liquid.registerTag('schema', Schema)
  liquid.registerFilter('asset_url', (name: string) => `/assets/${name}`)
  return liquid.parseAndRender(await readExtension('blocks/try-on.liquid'), {
    product,
    request: { locale: { iso_code: 'en' } },
    routes: { root_url: '/en/' },
    block: { settings: { ...defaults, ...settings }, shopify_attributes: 'data-block="1"' },
  })
}

class Schema extends Tag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid)
    while (remaining.length > 0) {
      const next = remaining.shift() as TopLevelToken & { name?: string }
      if (next.name === 'endschema') return
    }
  }

  *render(): Generator<never> {}
}

export interface ThemedShop extends AsyncDisposable {
  /** The page of a product with the block. */
  readonly url: string
  /** What was posted to the cart. */
  readonly posted: readonly { path: string; body: unknown }[]
}

/** A shop with the block on its page and a cart of its own; everything else is what the other shop answers. */
export async function startThemedShop(shopUrl: string, block: string): Promise<ThemedShop> {
  const script = await readExtension('assets/try-on.js')
  const posted: { path: string; body: unknown }[] = []
  const page = `<!doctype html><html lang="en"><title>Shop</title><body>${block}</body></html>`
  const server = createServer(async (incoming, response) => {
    const path = incoming.url ?? ''
    if (path === '/page') response.setHeader('content-type', 'text/html').end(page)
    else if (path === '/assets/try-on.js') response.setHeader('content-type', 'text/javascript').end(script)
    else if (path.includes('/cart/')) {
      posted.push({ path, body: await json(incoming) })
      response.end('{}')
    } else {
      const { method, headers } = incoming
      const passed = request(`${shopUrl}${path}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(passed)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections())
  return { url: `http://127.0.0.1:${port}/page`, posted, [Symbol.asyncDispose]: stop }
}
