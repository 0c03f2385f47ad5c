import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { invalidField } from '../../shared/contract/errors.ts'

const MB = 1024 * 1024

/**
 * Creates a reader of bodies with one of the content types: decompressed, an empty text for any other request. The reader throws
 * `VALIDATION_FAILED` for a body that is larger than `maxBytes`, incomplete or not UTF-8. It reads and drops the rest of a
 * rejected body, so that the response reaches the sender and the connection stays usable.
 */
export function createTextReader({ types, maxBytes }: { types: string[]; maxBytes: number }) {
  const receive = koaBody({
    urlencoded: false,
    // As text: the JSON parser of the package rejects a field named __proto__, which is a valid name.
    json: false,
    textTypes: types,
    textLimit: maxBytes,
    // One character per byte: the package would decode bytes that are not UTF-8 with replacement characters.
    encoding: 'binary',
    patchNode: false,
    onError: (error) => {
      throw (error as { status?: unknown }).status === 413
        ? invalidField('', `is larger than ${formatSize(maxBytes)}`)
        : invalidField('', 'could not be read')
    },
  })
  return async function readText(ctx: Context): Promise<string> {
    // A request that is read again from disk may fail when nothing reads it any more.
    ctx.req.on('error', () => {})
    try {
      await receive(ctx as Parameters<typeof receive>[0], async () => {})
      const { body } = ctx.request as { body?: unknown }
      return typeof body === 'string' ? decodeText(Buffer.from(body, 'latin1'), '') : ''
    } finally {
      ctx.req.unpipe()
      ctx.req.resume()
    }
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
    throw invalidField(path, 'must be UTF-8')
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

export function formatSize(bytes: number): string {
  return bytes < MB ? `${bytes / 1024} kB` : `${bytes / MB} MB`
}
