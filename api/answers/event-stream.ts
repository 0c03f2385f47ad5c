import { PassThrough } from 'node:stream'
import type { AppContext } from '../state.ts'

/** Shows proxies and callers that the connection is alive. */
const HEARTBEAT_MS = 10_000

export interface StreamedEvent {
  readonly id: string
  readonly data: unknown
}

/**
 * Answers with server-sent events, as the source yields them, and closes when it ends. The signal that the source gets is
 * aborted when the caller hangs up.
 */
export function streamEvents(ctx: AppContext, source: (gone: AbortSignal) => AsyncIterable<StreamedEvent>): void {
  const stream = new PassThrough()
  const gone = new AbortController()
  stream.once('close', () => gone.abort())
  ctx.type = 'text/event-stream'
  ctx.set('Cache-Control', 'no-store')
  // Asks proxies to pass every event on at once.
  ctx.set('X-Accel-Buffering', 'no')
  ctx.body = stream
  // Without its last event a stream says that the caller has to ask again.
  send(source(gone.signal), stream).catch((error) => ctx.state.log.warn({ err: error }, 'event stream was cut'))
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
