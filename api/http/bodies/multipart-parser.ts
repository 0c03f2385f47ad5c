import type { Readable } from 'node:stream'
import { MIMEType } from 'node:util'
import { Busboy } from '@fastify/busboy'
import { invalidField } from '../../shared/contract/errors.ts'

/** RFC 2046, 5.1.1. Comparing a longer boundary with parts of itself takes seconds. */
const MAX_BOUNDARY_LENGTH = 70
/** Above the allowed number of files and fields, so that their own limits apply first. */
const MAX_PARTS = 100
/** Of a part; browsers send a few hundred bytes. Headers beyond the limit are ignored. */
const MAX_HEADER_BYTES = 16 * 1024
/** The parser can only stop between two slices; 64 KB can contain 10,000 parts. */
const SLICE_BYTES = 16 * 1024
/** Transfer encodings (RFC 2045, 6) that leave the bytes as they are. */
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary', 'utf-8']

export interface Part {
  readonly name: string
  /** MUST be read or destroyed. */
  readonly stream: Readable
  readonly filename: string | undefined
  /** Without parameters, in lower case; `text/plain` if the part has none. */
  readonly type: string
}

export interface MultipartParser {
  /** Resolves when the parts have room for more bytes. Rejects after the first failure. */
  write(chunk: Buffer): Promise<void>
  /** Resolves when all parts are read. Rejects when the last delimiter is missing. */
  end(): Promise<void>
  /** Makes the current and later calls fail. */
  fail(error: Error): void
}

/** Throws `VALIDATION_FAILED` for a content type without a boundary of 1 to 70 characters. */
export function createMultipartParser(contentType: string | undefined, onPart: (part: Part) => void): MultipartParser {
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundaryOf(contentType)}"` },
    limits: { parts: MAX_PARTS, headerSize: MAX_HEADER_BYTES },
    // As streams: the parser would decode fields with replacement characters.
    isPartAFile: () => true,
  })
  let failure: Error | null = null
  let interrupt: (error: Error) => void = () => {}
  const fail = (error: Error) => {
    failure ??= error
    interrupt(failure)
  }
  const step = (begin: (done: () => void) => void) =>
    new Promise<void>((resolve, reject) => {
      interrupt = reject
      if (failure === null) begin(resolve)
      else reject(failure)
    })

  // Bytes may follow the last delimiter, so that the parser finishes during a write.
  const finished = Promise.withResolvers<void>()
  parser.once('finish', finished.resolve)
  parser.on('error', (error) => fail(error as Error))
  parser.on('partsLimit', () => fail(invalidField('', `has more than ${MAX_PARTS} parts`)))
  parser.on('file', (name: string | undefined, stream, filename: string | undefined, encoding, type) => {
    // Between two readers no other listener is attached, and an unhandled error would end the process.
    stream.on('error', () => {})
    if (name === undefined) fail(invalidField('', 'has a part without a name'))
    else if (!PLAIN_ENCODINGS.includes(encoding))
      fail(invalidField(name, `must not have the transfer encoding ${encoding}`))
    if (failure === null && name !== undefined) onPart({ name, stream, filename, type })
    else stream.resume()
  })

  return {
    write: async (chunk) => {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        await step((done) => parser.write(chunk.subarray(at, at + SLICE_BYTES), done))
      }
    },
    end: () =>
      step((done) => {
        finished.promise.then(done)
        parser.end()
      }),
    fail,
  }
}

function boundaryOf(contentType = ''): string {
  let boundary: string | null = null
  try {
    boundary = new MIMEType(contentType).params.get('boundary')
  } catch {}
  if (boundary === null || boundary === '' || boundary.length > MAX_BOUNDARY_LENGTH) {
    throw invalidField('Content-Type', `must have a boundary of 1 to ${MAX_BOUNDARY_LENGTH} characters`)
  }
  return boundary.replaceAll(/["\\]/g, '\\$&')
}
