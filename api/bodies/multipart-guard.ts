import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'

/** A multipart body before the parser. */
export interface GuardedBody extends Transform {
  readonly headers: IncomingHttpHeaders
  /** Error that `onBytes` threw. */
  refusal: Error | null
  /** Detaches from the request. */
  release(): void
}

export interface MultipartLimits {
  readonly maxBytes: number
  /** Called with the size of each chunk. A thrown error aborts the body. */
  readonly onBytes: (bytes: number) => void
}

/** Limits the size of the whole body. The body fails at the limit, and when its sender disconnects. */
export function guardMultipart(request: IncomingMessage, { maxBytes, onBytes }: MultipartLimits): GuardedBody {
  let size = 0
  const guard = new Transform({
    transform: (chunk: Buffer, _, done) => {
      size += chunk.length
      if (size > maxBytes) return done(new Error('The body is too large.'))
      try {
        onBytes(chunk.length)
        done(null, chunk)
      } catch (error) {
        guarded.refusal = error as Error
        done(guarded.refusal)
      }
    },
  })
  // Between two readers no other listener is attached, and an unhandled error would end the process.
  guard.on('error', () => {})
  const hangUp = () => {
    if (!request.readableEnded) guard.destroy(new Error('The sender has disconnected.'))
  }
  request.once('close', hangUp).pipe(guard)
  if (request.destroyed) hangUp()
  const release = () => {
    request.off('close', hangUp).unpipe(guard)
    guard.destroy()
  }
  const guarded: GuardedBody = Object.assign(guard, { headers: request.headers, release, refusal: null })
  return guarded
}
