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

/** What it does with a batch: answers with a status and headers, hangs up, or never answers. */
export type Mood = { readonly status: number; readonly headers?: Record<string, string> } | 'hang up' | 'silent'

export interface AnalyticsServer {
  readonly url: string
  /** Of every batch that came, whatever it did with it. */
  readonly requests: { readonly at: number; readonly events: readonly CapturedEvent[] }[]
  /** What it has taken, by `uuid`: as the provider does, the same event twice is one. */
  readonly taken: Map<string, CapturedEvent>
  /** What it does with the batches to come; a list is used up, one each, and ends in taking them. */
  moods: Mood[]
  /** Answers 400 to every batch with such an event. */
  refuses: (event: CapturedEvent) => boolean
  stop(): Promise<void>
}

const TAKEN: Mood = { status: 200 }

/** A provider of analytics that takes batches as PostHog is documented to, with the key `phc_test`. */
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
