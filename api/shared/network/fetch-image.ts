import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { DrapeError } from '../contract/errors.ts'
import { type AddressRule, createAddressRule } from './addresses.ts'
import { type GuardedResponse, type ResponseHeaders, requestGuarded } from './guarded-request.ts'
import type { LookUpHost } from './host-lookup.ts'
import { vetUrl } from './vet-url.ts'

/** Fetches the bytes of a caller's URL. */
export type FetchImage = (url: string) => Promise<Buffer>

export interface ImageFetcherSettings {
  /** Error code of every failure, for the product or the customer image; a too large customer image is `FILE_TOO_LARGE`. */
  readonly failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED' | 'PRODUCT_IMAGE_FETCH_FAILED'
  /** Non-public networks that URLs may point to. */
  readonly allowCidrs: readonly string[]
  readonly allowPorts: readonly number[]
  /** Maximum size of the decoded body. Default 10 MiB. */
  readonly maxBytes?: number
  /** Time limit including redirects. Default 15 s. */
  readonly timeoutMs?: number
  readonly lookup: LookUpHost
}

interface Visit {
  readonly settings: Required<ImageFetcherSettings>
  readonly isAllowed: AddressRule
  readonly signal: AbortSignal
}

const MAX_REDIRECTS = 3
const REDIRECTS = [301, 302, 303, 307, 308]
/** Success statuses without a complete image: no content, reset content, partial content. */
const INCOMPLETE = [204, 205, 206]
const HEADERS = {
  // Only what Drape decodes: with a wildcard, servers choose AVIF.
  accept: 'image/jpeg, image/png, image/webp, image/heic, image/heif',
  'accept-encoding': 'identity',
  'user-agent': 'Drape',
}

/**
 * Fetches images from URLs of callers and prevents server-side request forgery: only http and https, only the given
 * ports, no credentials; every address of every host on the way must be public or explicitly allowed, and the
 * connection uses the checked address. At most 3 redirects, never from https to http.
 * The returned function throws a DrapeError with `failureCode`, or `FILE_TOO_LARGE`, unless the whole body of a 2xx response arrived. The
 * message reveals nothing about the network.
 */
export function createImageFetcher({
  maxBytes = 10 * 1024 * 1024,
  timeoutMs = 15_000,
  ...required
}: ImageFetcherSettings): FetchImage {
  const settings = { ...required, maxBytes, timeoutMs }
  const isAllowed = createAddressRule(settings.allowCidrs)
  return async (url) => {
    const visit = { settings, isAllowed, signal: AbortSignal.timeout(timeoutMs) }
    try {
      return await follow(parseUrl(url, visit), visit)
    } catch (cause) {
      if (cause instanceof DrapeError) throw cause
      throw failure(visit, visit.signal.aborted ? 'the server took too long' : UNREACHABLE, cause)
    }
  }
}

// The same message for an unknown, private or unresponsive host: different messages would let strangers map the
// network.
const UNREACHABLE = 'the server is unreachable or closed the connection'

function failure({ settings }: Visit, reason: string, cause?: unknown): DrapeError {
  return new DrapeError(settings.failureCode, `The image could not be fetched: ${reason}.`, { cause })
}

async function follow(start: URL, visit: Visit): Promise<Buffer> {
  let url = start
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    visit.signal.throwIfAborted()
    const answer = await get(url, visit)
    if (Buffer.isBuffer(answer)) return answer
    if (url.protocol === 'https:' && answer.protocol === 'http:')
      throw failure(visit, 'the URL redirects from https to http')
    url = answer
  }
  throw failure(visit, 'the URL redirects too often')
}

/** Parses a permitted URL. Its host has not been resolved yet. */
function parseUrl(text: string, visit: Visit, base?: URL): URL {
  const url = vetUrl(text, { allowPorts: visit.settings.allowPorts, base })
  if (typeof url === 'string') throw failure(visit, url)
  return url
}

/** The body, or the target of a redirect. */
function get(url: URL, visit: Visit): Promise<Buffer | URL> {
  const { isAllowed, signal, settings } = visit
  const asked = { method: 'GET' as const, headers: HEADERS, isAllowed, lookup: settings.lookup, signal }
  return requestGuarded(url, asked, (answer) => readResponse(answer, url, visit))
}

async function readResponse({ status, headers, body }: GuardedResponse, url: URL, visit: Visit): Promise<Buffer | URL> {
  const { location } = headers
  if (REDIRECTS.includes(status) && typeof location === 'string') return parseUrl(toAscii(location), visit, url)
  if (status < 200 || status > 299 || INCOMPLETE.includes(status)) {
    throw failure(visit, `the server returned ${status}`)
  }
  return await readBody(body, headers, visit)
}

/** Percent-encodes the bytes of a header beyond ASCII as browsers do: a server gets back the bytes that it sent, in UTF-8 or not. */
function toAscii(header: string): string {
  return header.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
}

async function readBody(body: Readable, headers: ResponseHeaders, visit: Visit): Promise<Buffer> {
  const { maxBytes } = visit.settings
  const tooLarge = () => {
    const error = failure(visit, `the image is larger than ${maxBytes} bytes`)
    // A caller that waits for the response gets the same code as for a file of this size.
    return error.code === 'CUSTOMER_IMAGE_FETCH_FAILED' ? new DrapeError('FILE_TOO_LARGE', error.message) : error
  }
  if (Number(headers['content-length']) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of decoded(body, headers, visit)) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  if (!isImage(bytes)) throw failure(visit, 'the URL does not return an image')
  return bytes
}

/** The request asks for an unencoded body; compressed responses are decoded anyway. */
function decoded(body: Readable, headers: ResponseHeaders, visit: Visit): Readable {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding === 'identity' || encoding === '') return body
  const decoder = createDecoder(encoding)
  if (!decoder) throw failure(visit, 'the response has an unknown content encoding')
  return pipeline(body, decoder, () => {})
}

function createDecoder(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate') return createUnzip()
  return encoding === 'br' ? createBrotliDecompress() : undefined
}

/**
 * First bytes of image formats that other programs support. They get UNSUPPORTED_IMAGE_TYPE instead of a fetch error.
 */
const IMAGE_STARTS = [
  /^\xff\xd8/,
  /^\x89PNG/,
  /^RIFF....WEBP/s,
  /^....ftyp/s,
  /^GIF8/,
  /^BM/,
  /^II[*+]\0/,
  /^MM\0[*+]/,
  /^\xff\n/,
  /^8BPS/,
]

function isImage(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 512)
  return IMAGE_STARTS.some((pattern) => pattern.test(start)) || isSvg(start)
}

function isSvg(start: string): boolean {
  return /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|!doctype svg|svg)/i.test(start) && start.includes('<svg')
}
