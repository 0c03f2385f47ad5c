import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '../contract/errors.ts'
import { SMALL_CHUNKS } from './small-chunks.ts'

/** Error body of a request that no handler receives. */
export interface Refusal {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
}

const NOT_HTTP: Refusal = { status: 400, code: 'VALIDATION_FAILED', message: 'The request is not valid HTTP/1.1.' }
const HOST_MISSING: Refusal = { status: 400, code: 'VALIDATION_FAILED', message: 'HTTP/1.1 needs the header Host.' }
const HOST_TWICE: Refusal = { status: 400, code: 'VALIDATION_FAILED', message: 'Send the header Host once.' }
const URL_NOT_VALID: Refusal = {
  status: 400,
  code: 'VALIDATION_FAILED',
  message: 'The URL of the request is not valid. Send a path, or an absolute URL.',
}
const URL_NOT_UTF8: Refusal = {
  status: 400,
  code: 'VALIDATION_FAILED',
  message:
    'The URL is not UTF-8. Encode other characters of paths and query strings as UTF-8, then percent-encode the bytes.',
}
const CONNECT: Refusal = { status: 405, code: 'METHOD_NOT_ALLOWED', message: 'CONNECT is not allowed.' }
const EXPECTATION: Refusal = {
  status: 417,
  code: 'VALIDATION_FAILED',
  message: 'Expect may only be 100-continue.',
}
const REFUSAL_BY_ERROR: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'HEADERS_TOO_LARGE',
    message: 'The request line and the headers are larger than 16 KB together.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'VALIDATION_FAILED',
    message: 'The extensions of a chunk are larger than 16 KB.',
  },
  [SMALL_CHUNKS]: {
    status: 400,
    code: 'VALIDATION_FAILED',
    message: 'The body has more than 10,000 chunks with a mean below 256 bytes. Send larger chunks.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'VALIDATION_FAILED',
    message: 'The request did not arrive in time.',
  },
}
const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
}
/** A response is lost when its connection is reset while the client is still sending. */
const DRAIN_MS = 1000

/**
 * Adds the error body to requests that Node itself rejects without a body: requests that its parser rejects, and
 * CONNECT.
 */
export function answerUnparsedRequests(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  const answer = (socket: Duplex, refusal: Refusal) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const current = latest.get(socket)
    if (!socket.writable || (current !== undefined && !isNext(current))) {
      socket.destroy()
      return
    }
    socket.on('error', () => {})
    // Signals the handler of the request immediately that its body ends.
    if (current?.writableFinished === false) {
      socket.end(textOf(refusal), () => socket.destroy())
      return
    }
    socket.end(textOf(refusal))
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), DRAIN_MS)
    socket.once('close', () => clearTimeout(timer))
  }
  server.prependListener('request', ({ socket }, response) => latest.set(socket, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy()
    else answer(socket, REFUSAL_BY_ERROR[error.code ?? ''] ?? NOT_HTTP)
  })
  server.on('connect', (_, socket) => answer(socket, CONNECT))
  server.on('checkExpectation', (_, response) => refuse(response, EXPECTATION))
}

/**
 * Rejects a request without Host where RFC 9112, 3.2, requires it, and any request with several: a proxy may have used
 * a different one than the handler would.
 */
export function refuseWithoutHost(request: IncomingMessage, response: ServerResponse): boolean {
  // Alternating names and values. `headersDistinct` would sort all headers of each request.
  const hosts = request.rawHeaders.filter((text, i) => i % 2 === 0 && /^host$/i.test(text)).length
  if (hosts === 1 || (hosts === 0 && request.httpVersion !== '1.1')) return false
  refuse(response, hosts === 0 ? HOST_MISSING : HOST_TWICE)
  return true
}

/**
 * Rejects a URL whose decoded bytes are not UTF-8: replacement characters would name another resource. A percent sign
 * without two digits stays what it is.
 */
export function refuseUndecodableUrl(request: IncomingMessage, response: ServerResponse): boolean {
  const { url = '' } = request
  // An absolute URL, as proxies send it, is parsed by the router.
  if (!url.startsWith('/') && url !== '*' && !URL.canParse(url)) {
    refuse(response, URL_NOT_VALID)
    return true
  }
  // Node gives one character per byte.
  if (!/%[89a-f]|[\x80-\xff]/i.test(url)) return false
  const decoded = url.replace(/%([\da-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))
  if (isUtf8(Buffer.from(decoded, 'latin1'))) return false
  refuse(response, URL_NOT_UTF8)
  return true
}

/** Responds with the error body and closes the connection; only closes it when the response has already started. */
export function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ code, message, status }))
}

/**
 * Whether the next bytes on the connection belong to the rejected request: the previous response is finished, or it
 * belongs to this request, whose body is malformed, and has not started.
 */
function isNext(response: ServerResponse): boolean {
  if (response.writableFinished) return true
  // A response that waits for an earlier one has no socket assigned.
  return !response.req.complete && !response.headersSent && response.socket !== null
}

function textOf({ status, code, message }: Refusal): string {
  const body = JSON.stringify({ code, message, status })
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
