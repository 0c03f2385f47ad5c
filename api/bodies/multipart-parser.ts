import { Stream, Writable } from 'node:stream'

/** A part of a multipart body as formidable expects it: a file if it has a type, otherwise a field. */
export interface FormPart {
  name: string | null
  originalFilename: string | null
  mimetype: string | null
}

/** The part of formidable's form that plugins use. */
interface Form {
  readonly headers: Readonly<Record<string, string | undefined>>
  type: string
  ended: boolean
  _parser: Writable
  onPart(part: FormPart & Stream): Promise<void>
  _getFileName(contentDisposition: string): string | null
  _maybeEnd(): void
}

/** Per part. Browsers send a few hundred bytes; parsing time grows with the square of the size. */
const MAX_PART_HEADER_BYTES = 16 * 1024
/** Total of all parts, so that only some parts can have long headers. */
const MAX_HEADER_BYTES = 64 * 1024
/** Above the allowed number of files and fields, so that formidable's own limits apply first. */
const MAX_PARTS = 100

const HEADERS_END = Buffer.from('\r\n\r\n')

/**
 * Creates a formidable plugin that finds the parts of a multipart body (RFC 2046, 5.1.1). Formidable's own parser emits
 * a part in pieces between line ends: 10 MB of line ends take 6 s of processor time.
 */
export function createMultipartPlugin(isField: (part: FormPart) => boolean) {
  return (form: unknown): void => {
    const parsed = form as Form
    const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(parsed.headers['content-type'] ?? '') ?? []
    const boundary = quoted ?? plain
    if (boundary === undefined) throw new Error('The content type has no boundary.')
    parsed.type = 'multipart'
    parsed._parser = createParser(parsed, { boundary, isField })
  }
}

function createParser(
  form: Form,
  { boundary, isField }: { boundary: string; isField: (part: FormPart) => boolean },
): Writable {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  let state: 'data' | 'headers' | 'end' = 'data'
  let part: Part | null = null
  let [parts, headerBytes] = [0, 0]
  // The first delimiter needs no line end before it; a virtual one simplifies the search.
  let rest: Buffer = Buffer.from('\r\n')

  async function parse(chunk: Buffer): Promise<void> {
    rest = Buffer.concat([rest, chunk])
    while (state !== 'end') if (!(state === 'data' ? readData() : await readHeaders())) return
    rest = Buffer.alloc(0)
  }

  /** Emits the bytes that certainly belong to the part. Returns false when more bytes must arrive. */
  function readData(): boolean {
    const found = rest.indexOf(delimiter)
    const length = found < 0 ? Math.max(0, rest.length - delimiter.length + 1) : found
    if (length > 0) part?.write(rest.subarray(0, length))
    rest = rest.subarray(length)
    const following = rest.subarray(delimiter.length, delimiter.length + 2).toString('latin1')
    if (found < 0 || following.length < 2) return false
    if (following !== '\r\n' && following !== '--') {
      part?.write(delimiter)
      rest = rest.subarray(delimiter.length)
      return true
    }
    part?.end()
    part = null
    state = following === '--' ? 'end' : 'headers'
    rest = rest.subarray(delimiter.length)
    return true
  }

  /** Opens the part after its headers; `rest` begins with the line end before them. */
  async function readHeaders(): Promise<boolean> {
    const end = rest.indexOf(HEADERS_END)
    const length = end < 0 ? rest.length : end
    if (length > MAX_PART_HEADER_BYTES) throw new Error('The headers of a part are too large.')
    if (end < 0) return false
    headerBytes += length
    if (headerBytes > MAX_HEADER_BYTES) throw new Error('The headers of the parts are too large.')
    if (++parts > MAX_PARTS) throw new Error('The body has too many parts.')
    part = createPart(rest.toString('utf8', 0, end), form)
    if (isField(part.stream)) part.stream.mimetype = null
    else part.stream.mimetype ??= 'application/octet-stream'
    await form.onPart(part.stream)
    rest = rest.subarray(end + HEADERS_END.length)
    state = 'data'
    return true
  }

  return new Writable({
    write: (chunk: Buffer, _, done) => {
      parse(chunk).then(() => done(), done)
    },
    final: (done) => {
      if (state !== 'end') return done(new Error('The body ends before its last delimiter.'))
      form.ended = true
      form._maybeEnd()
      done()
    },
  })
}

interface Part {
  readonly stream: FormPart & Stream
  write(bytes: Buffer): void
  end(): void
}

function createPart(head: string, form: Form): Part {
  const headers: Record<string, string> = {}
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (!/^[\w-]+$/.test(name)) throw new Error('A header of a part has no name.')
    headers[name] = line.slice(colon + 1).trim()
  }
  const disposition = headers['content-disposition'] ?? ''
  const [, , quoted, token] = /\bname=("([^"]*)"|([^()<>@,;:\\"/[\]?={}\s]+))/i.exec(disposition) ?? []
  const stream = Object.assign(new Stream(), {
    headers,
    name: quoted ?? token ?? null,
    originalFilename: disposition === '' ? null : form._getFileName(disposition),
    mimetype: headers['content-type'] ?? null,
    transferEncoding: 'utf-8',
  })
  const encoding = (headers['content-transfer-encoding'] ?? 'binary').toLowerCase()
  if (encoding === 'base64') return decodingPart(stream)
  if (!['binary', '7bit', '8bit', 'utf-8'].includes(encoding)) throw new Error('The encoding of a part is unknown.')
  return { stream, write: (bytes) => stream.emit('data', bytes), end: () => stream.emit('end') }
}

/** Base64, of an older standard: 4 characters are 3 bytes, and a chunk may end between them. */
function decodingPart(stream: FormPart & Stream): Part {
  let text = ''
  const decode = (length: number) => {
    if (length > 0) stream.emit('data', Buffer.from(text.slice(0, length), 'base64'))
    text = text.slice(length)
  }
  return {
    stream,
    write: (bytes) => {
      text += bytes.toString('latin1').replaceAll(/\s/g, '')
      decode(text.length - (text.length % 4))
    },
    end: () => {
      decode(text.length)
      stream.emit('end')
    },
  }
}
