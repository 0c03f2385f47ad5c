import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'

/** A multipart body on its way to the parser. */
export interface GuardedBody extends Transform {
  readonly headers: IncomingHttpHeaders
  /** What `onBytes` has thrown. */
  refusal: Error | null
  /** Lets go of the request. */
  release(): void
}

export interface MultipartLimits {
  readonly maxBytes: number
  /** Called with the size of each chunk; breaks the body with what it throws. */
  readonly onBytes: (bytes: number) => void
}

/** Limits the whole body. The body breaks with an error at the limit, and when its sender hangs up. */
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
  // Between two readers nothing else listens, and an unhandled error ends the process.
  guard.on('error', () => {})
  const hangUp = () => {
    if (!request.readableEnded) guard.destroy(new Error('The sender is gone.'))
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
