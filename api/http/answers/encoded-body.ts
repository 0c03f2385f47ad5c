import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { AppContext } from '../state.ts'

const ENCODERS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
  identity: (bytes: Buffer) => Promise.resolve(bytes),
}

type Encoding = keyof typeof ENCODERS

/** A body that is sent many times. */
export interface EncodedBody {
  readonly encodings: readonly Encoding[]
  readonly encode: (encoding: Encoding) => Promise<Buffer>
}

/** Compresses texts on the first request for an encoding: most processes never serve all files. */
export function createEncodedBody(content: string | Buffer): EncodedBody {
  const bytes = Buffer.from(content)
  // Images are compressed already.
  const encodings: readonly Encoding[] = typeof content === 'string' ? ['br', 'gzip', 'identity'] : ['identity']
  const bodies = new Map<Encoding, Promise<Buffer>>()
  const encode = (encoding: Encoding) => {
    const known = bodies.get(encoding)
    if (known !== undefined) return known
    const body = ENCODERS[encoding](bytes)
    bodies.set(encoding, body)
    // A failed compression must not be served for ever.
    body.catch(() => bodies.delete(encoding))
    return body
  }
  return { encodings, encode }
}

/** Answers in the first encoding that the client accepts; 304 if the client has the body. Set a weak `ETag` before. */
export async function sendEncoded(ctx: AppContext, { encodings, encode }: EncodedBody): Promise<void> {
  const encoding = (ctx.acceptsEncodings(...encodings) || 'identity') as Encoding
  ctx.status = 200
  ctx.set('Vary', 'Accept-Encoding')
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
  ctx.body = await encode(encoding)
}
