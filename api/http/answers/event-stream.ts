import { PassThrough } from 'node:stream'
import type { Log } from '../../shared/telemetry/log.ts'

/** Keeps the connection open through proxies. */
const HEARTBEAT_MS = 10_000

export interface StreamedEvent {
  readonly id: string
  readonly data: unknown
}

/** What a stream needs of the context of a request. */
interface StreamContext {
  type: string
  body: unknown
  set(name: string, value: string): void
  readonly state: { readonly log: Pick<Log, 'warn'> }
}

/**
 * Responds with the source's events as server-sent events and closes when the source ends. Aborts the source's signal
 * when the caller disconnects.
 */
export function streamEvents(
  ctx: StreamContext,
  source: (disconnected: AbortSignal) => AsyncIterable<StreamedEvent>,
): void {
  const stream = new PassThrough()
  const disconnected = new AbortController()
  stream.once('close', () => disconnected.abort())
  ctx.type = 'text/event-stream'
  // Disables buffering in proxies.
  ctx.set('X-Accel-Buffering', 'no')
  ctx.body = stream
  // A stream without its last event makes the caller reconnect.
  send(source(disconnected.signal), stream).catch((error) => ctx.state.log.warn({ err: error }, 'event stream aborted'))
}

async function send(events: AsyncIterable<StreamedEvent>, stream: PassThrough): Promise<void> {
  const heartbeat = setInterval(() => stream.write(': alive\n\n'), HEARTBEAT_MS)
  try {
    for await (const { id, data } of events) stream.write(`id: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  } finally {
    clearInterval(heartbeat)
    stream.end()
  }
}
