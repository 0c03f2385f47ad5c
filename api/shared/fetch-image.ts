import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { type AddressRule, createAddressRule } from './addresses.ts'
import { DrapeError } from './errors.ts'
import { type AnswerHeaders, askGuarded, type GuardedAnswer, vetUrl } from './guarded-request.ts'
import type { LookUpHost } from './host-lookup.ts'

/** The bytes behind a caller's URL. */
export type FetchImage = (url: string) => Promise<Buffer>

export interface ImageFetcherSettings {
  /** The code of every failure; who waits for the picture decides it. */
  readonly failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED' | 'PRODUCT_IMAGE_FETCH_FAILED'
  /** Networks that URLs may lead to although they are not public. */
  readonly allowCidrs: readonly string[]
  readonly allowPorts: readonly number[]
  /** Of the decoded body; default 10 MiB. */
  readonly maxBytes?: number
  /** From the call to the last byte, redirects included; default 15 s. */
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
/** Successes without the whole picture: no content, reset content, partial content. */
const INCOMPLETE = [204, 205, 206]
const HEADERS = {
  accept: 'image/jpeg, image/png, image/webp, image/heic, */*;q=0.1',
  'accept-encoding': 'identity',
  'user-agent': 'Drape',
}

/**
 * Fetches pictures from URLs that callers name, without becoming their way into the network: only http and https, only the
 * ports given, no credentials; every address of every host on the way is public or explicitly allowed, and the connection goes
 * to the address that was checked. At most 3 redirects, never from https to http.
 * The function throws a DrapeError with `failureCode` whenever the whole body of a 2xx answer did not arrive; its message says
 * nothing about the network behind.
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

// The same words for a host that is unknown, private or silent: the difference would map the network for strangers.
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

/** A URL that may be visited, its host not yet known. */
function parseUrl(text: string, visit: Visit, base?: URL): URL {
  const url = vetUrl(text, { allowPorts: visit.settings.allowPorts, base })
  if (typeof url === 'string') throw failure(visit, url)
  return url
}

/** The body, or where the server sends us instead. */
function get(url: URL, visit: Visit): Promise<Buffer | URL> {
  const { isAllowed, signal, settings } = visit
  const asked = { method: 'GET' as const, headers: HEADERS, isAllowed, lookup: settings.lookup, signal }
  return askGuarded(url, asked, (answer) => readAnswer(answer, url, visit))
}

async function readAnswer({ status, headers, body }: GuardedAnswer, url: URL, visit: Visit): Promise<Buffer | URL> {
  const { location } = headers
  if (REDIRECTS.includes(status) && typeof location === 'string') return parseUrl(location, visit, url)
  if (status < 200 || status > 299 || INCOMPLETE.includes(status)) {
    throw failure(visit, `the server returned ${status}`)
  }
  return await readBody(body, headers, visit)
}

async function readBody(body: Readable, headers: AnswerHeaders, visit: Visit): Promise<Buffer> {
  const { maxBytes } = visit.settings
  const tooLarge = () => failure(visit, `the image is larger than ${maxBytes} bytes`)
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

/** We ask for bytes as they are; a server that compresses nevertheless is understood. */
function decoded(body: Readable, headers: AnswerHeaders, visit: Visit): Readable {
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

/** How images begin that other programs show; for most of them the caller gets UNSUPPORTED_IMAGE_TYPE. */
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
