import { createHash, createHmac, randomUUID } from 'node:crypto'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'

export interface ProxyOptions {
  /** URL of the service. */
  readonly apiUrl: string
  /** Domain of the shop, as registered at the service. */
  readonly site: string
  readonly secret: string
  /** The signed-in customer; empty without one. */
  readonly customerId: string
}

/** Path prefix of proxied requests. */
export const PREFIX = '/apps/drape'

/** The shop's side of the proxy: forwards a request to the service, signed like a plugin's. */
export async function passOn(asked: IncomingMessage, answer: ServerResponse, options: ProxyOptions): Promise<void> {
  const body = await buffer(asked)
  const target = new URL(`${options.apiUrl}${(asked.url ?? '').slice(PREFIX.length)}`)
  // Only the shop sets the signed-in customer; drop the parameter of the browser.
  target.searchParams.delete('logged_in_customer_id')
  if (options.customerId !== '') target.searchParams.set('logged_in_customer_id', options.customerId)
  const { method = 'GET', headers } = asked
  const signed = {
    ...sign({ method, path: target.pathname + target.search, body }, options),
    'X-Drape-Shopper-Address': asked.socket.remoteAddress ?? '',
  }
  const passing = request(target, { method, headers: { ...withoutOwn(headers), ...signed } }, (received) => {
    answer.writeHead(received.statusCode ?? 502, received.headers)
    pipeline(received, answer, () => {})
  })
  passing.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()))
  answer.on('close', () => passing.destroy())
  passing.end(body)
}

/** Removes headers between the shop and its customers, and signatures of the browser. */
function withoutOwn(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const kept = Object.entries(headers).filter(([name]) => !/^(host|cookie|connection|x-drape-.*)$/.test(name))
  return Object.fromEntries(kept)
}

function sign(
  { method, path, body }: { method: string; path: string; body: Buffer },
  { site, secret }: ProxyOptions,
): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const nonce = randomUUID()
  const hash = createHash('sha256').update(body).digest('hex')
  const signature = createHmac('sha256', secret).update([method, path, timestamp, nonce, hash].join('\n')).digest('hex')
  return {
    'X-Drape-Site': site,
    'X-Drape-Timestamp': timestamp,
    'X-Drape-Nonce': nonce,
    'X-Drape-Signature': signature,
  }
}
