import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What it does with a message: answers with a status, headers and a body, hangs up, or never answers. */
export type Mood =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang up'
  | 'silent'

export interface ReceivedWebhook {
  readonly at: number
  readonly path: string
  readonly id: string
  readonly headers: IncomingHttpHeaders
  /** As it came, byte by byte. */
  readonly body: string
  /** The body, parsed. */
  readonly message: {
    readonly type: string
    readonly timestamp: string
    readonly data: Readonly<Record<string, unknown>>
  }
}

export interface WebhookReceiver {
  readonly url: string
  readonly port: number
  /** Everything that came, whatever it did with it. */
  readonly received: ReceivedWebhook[]
  /** What it does with the messages to come, one each; after the last of them, with all. */
  moods: Mood[]
  mood: Mood
  /** Messages that it never answered and that still wait for it. */
  open(): number
  stop(): Promise<void>
}

/** A server that is told of events, on a loopback address. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const silent = new Set<ServerResponse>()
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { headers, url: path = '' } = request
    const mood = receiver.moods.shift() ?? receiver.mood
    receiver.received.push({
      at: performance.now(),
      path,
      id: String(headers['webhook-id']),
      headers,
      body,
      message: JSON.parse(body),
    })
    if (mood === 'hang up') return void request.socket.destroy()
    if (mood === 'silent') {
      silent.add(response)
      response.on('close', () => silent.delete(response))
      return
    }
    response.writeHead(mood.status, mood.headers).end(mood.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received: [],
    moods: [],
    mood: { status: 204 },
    open: () => silent.size,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

/**
 * Whether a message is what a holder of this secret sent, no more than five minutes ago; written after the text of Standard
 * Webhooks 1.0.0, as a receiver would.
 */
export async function isGenuine(
  { headers, body }: Pick<ReceivedWebhook, 'headers' | 'body'>,
  secret: string,
  now = Date.now(),
): Promise<boolean> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`])
  if (!id || !timestamp || typeof signatures !== 'string') return false
  if (Math.abs(now / 1000 - Number(timestamp)) > 300) return false
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (character) => character.charCodeAt(0))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const verdicts = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Uint8Array.from(atob(signature.slice(3)), (character) => character.charCodeAt(0)))
    .map((signature) => crypto.subtle.verify('HMAC', key, signature, signed))
  return (await Promise.all(verdicts)).includes(true)
}
