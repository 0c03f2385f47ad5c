import { pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Context } from 'koa'
import { DrapeError } from '../shared/errors.ts'
import { invalid } from './bounded-json.ts'
import { createByteBuffer } from './byte-buffer.ts'

const METHODS = ['POST', 'PUT', 'PATCH']
const DECODERS = new Map([
  ['', null],
  ['identity', null],
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
const MB = 1024 * 1024

/**
 * The body of a request with one of the content types, decompressed; an empty text for any other request. Throws
 * `VALIDATION_FAILED` for a body that is larger than `maxBytes`, incomplete or not UTF-8. Reads and drops the rest of a
 * rejected body, so that the response reaches the sender and the connection stays usable.
 */
export async function readText(
  ctx: Context,
  { types, maxBytes }: { types: readonly string[]; maxBytes: number },
): Promise<string> {
  // A request that is read again from disk may fail when nothing reads it any more.
  ctx.req.on('error', () => {})
  try {
    if (!METHODS.includes(ctx.method) || !ctx.is([...types])) return ''
    const createDecoder = DECODERS.get(ctx.get('content-encoding').toLowerCase())
    if (createDecoder === undefined) throw invalid('Content-Encoding', 'must be gzip, deflate, br or identity')
    const sent = bounded(ctx.req.iterator({ destroyOnReturn: false }), maxBytes)
    const plain =
      createDecoder === null
        ? sent
        : bounded(
            pipeline(sent, createDecoder(), () => {}),
            maxBytes,
          )
    const body = createByteBuffer()
    for await (const chunk of plain) body.append(chunk)
    return decodeText(body.bytes(), '')
  } catch (error) {
    throw error instanceof DrapeError ? error : invalid('', 'could not be read')
  } finally {
    ctx.req.resume()
  }
}

async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw invalid('', `is larger than ${formatSize(maxBytes)}`)
    yield chunk
  }
}

/**
 * Decodes UTF-8 and removes a byte order mark. Throws `VALIDATION_FAILED` for the field at `path` if the bytes are not
 * UTF-8: replacement characters would lose what the caller sent.
 */
export function decodeText(bytes: Uint8Array, path: string): string {
  try {
    return UTF_8.decode(bytes)
  } catch {
    throw invalid(path, 'must be UTF-8')
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

export function formatSize(bytes: number): string {
  return bytes < MB ? `${bytes / 1024} kB` : `${bytes / MB} MB`
}
