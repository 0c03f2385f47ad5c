import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** Reaction to a message: a response with status, headers and body, a disconnect, or no response. */
export type Mood =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang up'
  | 'silent'

export interface ReceivedWebhook {
  readonly at: number
  readonly path: string
  readonly id: string
  readonly headers: IncomingHttpHeaders
  /** The received bytes. */
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
  /** All received messages, whatever the reaction. */
  readonly received: ReceivedWebhook[]
  /** Reactions to the next messages, one each; the last one applies to all later messages. */
  moods: Mood[]
  mood: Mood
  /** Messages without a response that are still open. */
  open(): number
  stop(): Promise<void>
}

/** A server that receives events, on a loopback address. */
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

/** Whether the verifier of Standard Webhooks accepts a message under this secret, at most 5 minutes old. */
export function isGenuine({ headers, body }: Pick<ReceivedWebhook, 'headers' | 'body'>, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}
