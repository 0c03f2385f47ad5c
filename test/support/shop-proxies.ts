import { createHash, createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'

export type Parameters = readonly (readonly [name: string, value: string])[]

/** A request as sent; headers can be repeated. */
export interface Sent {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | Uint8Array
}

/** The query that an app proxy of Shopify would sign for these parameters at this time (ms). */
export function signedByShopify(
  shop: { domain: string; secret: string },
  { parameters = [], now = Date.now() }: { parameters?: Parameters; now?: number } = {},
): string {
  const own = [...parameters]
  const has = (name: string) => own.some(([given]) => given === name)
  if (!has('shop')) own.push(['shop', shop.domain])
  if (!has('timestamp')) own.push(['timestamp', String(Math.floor(now / 1000))])
  if (!has('path_prefix')) own.push(['path_prefix', '/apps/drape'])
  const values: Record<string, string[]> = Object.create(null)
  for (const [name, value] of own) {
    values[name] ??= []
    values[name].push(value)
  }
  const text = Object.keys(values)
    .map((name) => Buffer.from(`${name}=${values[name].join(',')}`).toString('latin1'))
    .sort()
    .join('')
  const signature = createHmac('sha256', shop.secret).update(Buffer.from(text, 'latin1')).digest('hex')
  return [...own, ['signature', signature]].map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
}

/** The request with the headers that the plugin of a shop would add to it at this time (ms). */
export function signedByPlugin(
  shop: { domain: string; secret: string },
  { method = 'GET', path, headers = [], body = '' }: Partial<Sent> & { path: string },
  { now = Date.now(), nonce = randomUUID() }: { now?: number; nonce?: string } = {},
): Sent {
  const timestamp = String(Math.floor(now / 1000))
  const hash = createHash('sha256').update(body).digest('hex')
  const text = `${method}\n${path}\n${timestamp}\n${nonce}\n${hash}`
  return {
    method,
    path,
    headers: [
      ...headers,
      ['X-Drape-Site', shop.domain],
      ['X-Drape-Timestamp', timestamp],
      ['X-Drape-Nonce', nonce],
      ['X-Drape-Signature', createHmac('sha256', shop.secret).update(text).digest('hex')],
    ],
    body,
  }
}

/** Sends a request without the changes that fetch makes. */
export async function send(url: string, { method, path, headers, body }: Sent) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const { hostname, port } = new URL(url)
  const length: [string, string][] = body.length > 0 ? [['Content-Length', String(Buffer.byteLength(body))]] : []
  const names = headers.map(([name]) => name.toLowerCase())
  const framing = names.includes('transfer-encoding') ? [] : length
  const call = request({
    hostname,
    port,
    method,
    path,
    headers: [['Host', 'drape.test'], ...headers, ...framing].flat(),
  })
  call.on('error', reject).on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
  })
  call.end(body)
  const { status, body: text } = await promise
  return { status, body: text === '' ? null : JSON.parse(text) }
}

/** A `drape.call` whose path an app proxy of Shopify has signed. */
export function pathSignedByShopify(path: string, shop: { domain: string; secret: string }, parameters?: Parameters) {
  return `${path}?${signedByShopify(shop, { parameters })}`
}
