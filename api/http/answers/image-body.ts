import { createHash } from 'node:crypto'
import type { AppContext } from '../state.ts'

/**
 * Answers with an image, or with the range of its bytes that the request asks for (RFC 9110): 206, 416 for a range behind the end, 304
 * for a client that has the image. A request for several ranges gets the whole image.
 */
export function sendImage(ctx: AppContext, bytes: Buffer): void {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`
  ctx.status = 200
  ctx.set({ ETag: etag, 'Accept-Ranges': 'bytes' })
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  const range = ['', etag].includes(ctx.get('If-Range')) ? findRange(ctx.get('Range'), bytes.length) : null
  if (range === null) {
    ctx.body = bytes
  } else if (range.start > range.end) {
    ctx.body = ''
    ctx.status = 416
    ctx.set('Content-Range', `bytes */${bytes.length}`)
  } else {
    ctx.body = bytes.subarray(range.start, range.end + 1)
    ctx.status = 206
    ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${bytes.length}`)
  }
}

/** The first and the last byte of the only range; null without one. `bytes=-5` means the last 5 bytes. */
function findRange(header: string, length: number): { start: number; end: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header) ?? []
  if (first === '' && last === '') return null
  if (first === '') return { start: Math.max(0, length - Number(last)), end: length - 1 }
  // Such a range is not valid, and is ignored.
  if (last !== '' && Number(last) < Number(first)) return null
  return { start: Number(first), end: last === '' ? length - 1 : Math.min(Number(last), length - 1) }
}
