import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { presentMissing, presentPrivacy, presentProduct, presentShop, type Way } from './pages.ts'
import { PRODUCTS, pathOfImage } from './products.ts'
import { PREFIX, type ProxyOptions, passOn } from './proxy.ts'

export interface ShopOptions extends ProxyOptions {
  readonly publishableKey: string
  /** 0: any free port. */
  readonly port: number
}

export interface DemoShop {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a small shop with the widget on its pages, and the signing proxy to the service. */
export async function startShop(options: ShopOptions): Promise<DemoShop> {
  const server = createServer((asked, answer) => {
    handle(asked, answer, options).catch(() => answer.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, '127.0.0.1', resolve)
  })
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handle(asked: IncomingMessage, answer: ServerResponse, options: ShopOptions): Promise<void> {
  const { pathname, searchParams } = new URL(asked.url ?? '/', 'http://shop')
  if (pathname.startsWith(`${PREFIX}/`)) return passOn(asked, answer, options)
  const file = await findFile(pathname)
  if (file !== null) return void answer.setHeader('Content-Type', file.type).end(file.bytes)
  const way = readWay(searchParams, options)
  const page = findPage(pathname, way)
  answer.writeHead(page === null ? 404 : 200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policyFor(way, options),
    'Permissions-Policy': 'camera=(self), microphone=(), geolocation=()',
  })
  answer.end(page ?? presentMissing(way))
}

function readWay(query: URLSearchParams, { apiUrl, publishableKey }: ShopOptions): Way {
  const way = query.get('way')
  return {
    direct: way === 'key' ? { apiUrl, publishableKey } : null,
    onlyProxy: way === 'only-proxy',
    language: /^[a-z]{2}$/.test(query.get('lang') ?? '') ? (query.get('lang') ?? 'en') : 'en',
  }
}

function findPage(pathname: string, way: Way): string | null {
  if (pathname === '/') return presentShop(way)
  if (pathname === '/privacy') return presentPrivacy(way)
  const product = PRODUCTS.find(({ id }) => pathname === `/products/${id}`)
  return product ? presentProduct(product, way) : null
}

/** Photos are sent to the service directly and images come from there, unless only the proxy is permitted. */
function policyFor({ onlyProxy }: Way, { apiUrl }: ShopOptions): string {
  const service = onlyProxy ? '' : ` ${apiUrl}`
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${service}`,
    `connect-src 'self'${service}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

const FILES: Readonly<Record<string, { url: URL; type: string }>> = {
  '/shop.css': { url: new URL('shop.css', import.meta.url), type: 'text/css' },
  '/shop.js': { url: new URL('shop.js', import.meta.url), type: 'text/javascript' },
}

async function findFile(pathname: string): Promise<{ bytes: Buffer; type: string } | null> {
  const known = FILES[pathname]
  if (known) return { bytes: await readFile(known.url), type: known.type }
  const product = PRODUCTS.find(({ image }) => pathname === `/images/${image}`)
  return product ? { bytes: await readFile(pathOfImage(product)), type: 'image/jpeg' } : null
}
