import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'

/** A multipart body on its way to the parser. */
export interface GuardedBody extends Transform {
  readonly headers: IncomingHttpHeaders
  /** Lets go of the request. */
  release(): void
}

/** Of one part; those of browsers have a few hundred bytes. */
const MAX_PART_HEADER_BYTES = 16 * 1024

/**
 * Limits what the parser does not: the whole body, and the headers of a part, which it collects in memory and reads in a time
 * that grows with the square of their length. The body breaks with an error at the limit, and when its sender hangs up.
 */
export function guardMultipart(request: IncomingMessage, { maxBytes }: { maxBytes: number }): GuardedBody {
  const areHeadersShort = createHeaderCheck(boundaryOf(request.headers['content-type'] ?? ''))
  let size = 0
  const guard = new Transform({
    transform: (chunk: Buffer, _, done) => {
      size += chunk.length
      if (size > maxBytes) done(new Error('The body is too large.'))
      else if (!areHeadersShort(chunk)) done(new Error('The headers of a part are too large.'))
      else done(null, chunk)
    },
  })
  // Between two readers nobody else listens, and an error that nobody hears ends the process.
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
  return Object.assign(guard, { headers: request.headers, release })
}

function boundaryOf(contentType: string): string {
  const found = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(contentType)
  return found?.[1] ?? found?.[2] ?? ''
}

const HEADERS_END = Buffer.from('\r\n\r\n')
const LINE_END_BYTES = 2

/** Takes the body chunk by chunk; false when the headers of a part are too long (RFC 2046, 5.1.1). */
function createHeaderCheck(boundary: string): (chunk: Buffer) => boolean {
  const betweenParts = Buffer.from(`\r\n--${boundary}\r\n`)
  // The first part needs no line before it.
  let sought = betweenParts.subarray(LINE_END_BYTES)
  let headerBytes = 0
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    let bytes = sought === HEADERS_END || isCut(sought, { rest, chunk }) ? Buffer.concat([rest, chunk]) : chunk
    for (;;) {
      const found = bytes.indexOf(sought)
      const passed = found < 0 ? Math.max(0, bytes.length - sought.length + 1) : found
      const isHeader = sought === HEADERS_END
      headerBytes = isHeader ? headerBytes + passed : 0
      if (headerBytes > MAX_PART_HEADER_BYTES) return false
      if (found < 0) {
        rest = bytes.subarray(passed)
        return true
      }
      // The end of the line before the headers is the beginning of their end when there are none.
      bytes = bytes.subarray(found + sought.length - (isHeader ? 0 : LINE_END_BYTES))
      sought = isHeader ? betweenParts : HEADERS_END
    }
  }
}

/** Whether what is sought begins in the rest and ends in the chunk; then alone, and in headers, is a copy of both worth its memory. */
function isCut(sought: Buffer, { rest, chunk }: { rest: Buffer; chunk: Buffer }): boolean {
  return rest.length > 0 && Buffer.concat([rest, chunk.subarray(0, sought.length - 1)]).includes(sought)
}
