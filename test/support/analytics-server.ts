import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface CapturedEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly uuid: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** Reaction to a batch: a response with status and headers, a disconnect, or no response. */
export type Mood = { readonly status: number; readonly headers?: Record<string, string> } | 'hang up' | 'silent'

export interface AnalyticsServer {
  readonly url: string
  /** Data of all received batches, whatever the reaction. */
  readonly requests: { readonly at: number; readonly events: readonly CapturedEvent[] }[]
  /** Accepted events by `uuid`: like the provider, it stores a repeated event once. */
  readonly taken: Map<string, CapturedEvent>
  /** Reactions to the next batches; after a list, one each, it accepts batches. */
  moods: Mood[]
  /** Answers 400 to every batch with such an event. */
  refuses: (event: CapturedEvent) => boolean
  stop(): Promise<void>
}

const TAKEN: Mood = { status: 200 }

/** An analytics provider that accepts batches as documented by PostHog, with the key `phc_test`. */
export async function startAnalyticsServer(): Promise<AnalyticsServer> {
  const silent = new Set<ServerResponse>()
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/batch/') return void response.writeHead(404).end()
    const { api_key: key, batch } = (await json(request)) as { api_key: string; batch: CapturedEvent[] }
    if (key !== 'phc_test' || !batch.every(isEvent)) return void response.writeHead(401).end('{}')
    analytics.requests.push({ at: performance.now(), events: batch })
    const mood = analytics.moods.shift() ?? TAKEN
    if (batch.some(analytics.refuses)) return void response.writeHead(400).end('{}')
    if (mood === 'hang up') return void request.socket.destroy()
    if (mood === 'silent') return void silent.add(response)
    if (mood.status === 200) for (const event of batch) analytics.taken.set(event.uuid, event)
    response.writeHead(mood.status, { 'content-type': 'application/json', ...mood.headers })
    response.end(JSON.stringify({ status: mood.status === 200 ? 'Ok' : 'No' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const analytics: AnalyticsServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    taken: new Map(),
    moods: [],
    refuses: () => false,
    stop: async () => {
      for (const response of silent) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return analytics
}

function isEvent({ event, distinct_id: id, timestamp, uuid }: CapturedEvent): boolean {
  const isNamed = typeof event === 'string' && typeof id === 'string' && id !== ''
  return isNamed && !Number.isNaN(Date.parse(timestamp)) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)
}
