import { createHash, createHmac, randomUUID } from 'node:crypto'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'

export interface ProxyOptions {
  /** Where the service is. */
  readonly apiUrl: string
  /** As the service knows the shop. */
  readonly site: string
  readonly secret: string
  /** The customer who is logged in; empty without one. */
  readonly customerId: string
}

/** Below which the shop passes requests on. */
export const PREFIX = '/apps/drape'

/** The shop's end of the connection: passes a request on to the service, signed as a plugin signs. */
export async function passOn(asked: IncomingMessage, answer: ServerResponse, options: ProxyOptions): Promise<void> {
  const body = await buffer(asked)
  const target = new URL(`${options.apiUrl}${(asked.url ?? '').slice(PREFIX.length)}`)
  // Only the shop says who is logged in, whatever a browser sends under that name.
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

/** What is between the shop and its customers is not the service's business; nor may they bring a signature along. */
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
