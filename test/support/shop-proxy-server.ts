import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'

export interface ShopProxy {
  /** URL of the shop in browsers. */
  readonly url: string
  stop(): Promise<void>
}

export interface ShopProxyServerOptions {
  readonly apiUrl: string
  readonly shop: string
  readonly secret: string
  /** ID of the signed-in customer. Empty: none. */
  readonly customerId: string
}

const PREFIX = '/apps/drape'
const WIDGET = join(import.meta.dirname, 'widget')
const FILES: Readonly<Record<string, { file: string; type: string }>> = {
  '/': { file: 'shop.html', type: 'text/html; charset=utf-8' },
  '/widget.js': { file: 'widget.js', type: 'text/javascript' },
}

/** A shop page with the widget, behind an app proxy that signs like Shopify. */
export async function startShopProxy(options: ShopProxyServerOptions): Promise<ShopProxy> {
  const server = createServer((asked, answer) => {
    const { pathname } = new URL(asked.url ?? '/', 'http://shop')
    if (pathname.startsWith(`${PREFIX}/`)) forward(asked, answer, options)
    else void serve(pathname, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // Browsers resolve this name without DNS; it differs from the host of the API.
    url: `http://shop.localhost:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serve(pathname: string, answer: ServerResponse): Promise<void> {
  const known = FILES[pathname]
  if (!known) return void answer.writeHead(404).end()
  answer.setHeader('Content-Type', known.type)
  // The strictest policy of a page for embedded resources.
  answer.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
  answer.end(await readFile(join(WIDGET, known.file)))
}

function forward(asked: IncomingMessage, answer: ServerResponse, options: ShopProxyServerOptions): void {
  const { pathname, searchParams } = new URL(asked.url ?? '/', 'http://shop')
  const target = new URL(`${options.apiUrl}/public${pathname.slice(PREFIX.length)}`)
  target.search = sign(searchParams, options).toString()
  const { host: _, cookie: __, ...headers } = asked.headers
  const asking = request(target, { method: asked.method, headers }, (received) => {
    answer.writeHead(received.statusCode ?? 502, received.headers)
    pipeline(received, answer, () => {})
  })
  asking.on('error', () => answer.destroy())
  answer.on('close', () => asking.destroy())
  asked.pipe(asking)
}

/** The query with the parameters of Shopify: shop, signed-in customer, time and HMAC. */
function sign(query: URLSearchParams, { shop, secret, customerId }: ShopProxyServerOptions): URLSearchParams {
  const signed = new URLSearchParams(query)
  signed.set('shop', shop)
  signed.set('logged_in_customer_id', customerId)
  signed.set('path_prefix', PREFIX)
  signed.set('timestamp', String(Math.floor(Date.now() / 1000)))
  const names = [...new Set(signed.keys())]
  const message = names.map((name) => `${name}=${signed.getAll(name).join(',')}`).toSorted()
  signed.set('signature', createHmac('sha256', secret).update(message.join('')).digest('hex'))
  return signed
}
