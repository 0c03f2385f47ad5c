import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Log } from '../telemetry/log.ts'
import { createPipelines } from './pipelined-requests.ts'
import { createBoundedRequest } from './small-chunks.ts'
import { answerUnparsedRequests, refuse, refuseUndecodableUrl, refuseWithoutHost } from './unparsed-requests.ts'

export interface HttpServerOptions {
  /** Of the server, in logs. */
  readonly name: 'api' | 'dashboard' | 'probes'
  readonly log: Pick<Log, 'error'>
  /**
   * Time limits for receiving the headers (`headersMs`) and the whole request (`requestMs`); slower requests get 408.
   */
  readonly headersMs?: number
  readonly requestMs?: number
  /** A finished response of which the client reads nothing for this long is dropped together with its connection. */
  readonly stalledMs?: number
}

const STALLED_MS = 30_000
const HEADERS_MS = 15_000
/**
 * Longer than load balancers keep an idle connection, 60 s as a rule: the one that closes it later may send a request over a closed
 * connection, which is a 502 for the caller.
 */
const KEEP_ALIVE_MS = 75_000
/** Enough for a slow upload of 10 MB; limits how long a slow client can hold the server. */
const REQUEST_MS = 60_000
/** Checks for slow requests per time limit. Node's default interval of 30 s would double the limit. */
const CHECKS = 5

/**
 * Creates an HTTP server whose handler cannot crash the process. An error of the handler, synchronous or not, is
 * logged and answered with 500; if the response has already started, the connection is closed. Requests of one
 * connection are handled sequentially. Requests that do not reach the handler get the error body too.
 */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  { name, log, headersMs = HEADERS_MS, requestMs = REQUEST_MS, stalledMs = STALLED_MS }: HttpServerOptions,
): Server {
  const limits = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.ceil(headersMs / CHECKS),
  }
  const isNext = createPipelines()
  const Request = createBoundedRequest((error, socket) => server.emit('clientError', error, socket))
  const server: Server = createServer(
    { requireHostHeader: false, IncomingMessage: Request, ...limits },
    async (request, response) => {
      const next = isNext(request, response)
      // Most requests need no wait, not even for a microtask.
      if (next !== true && !(await next)) return
      if (refuseWithoutHost(request, response) || refuseUndecodableUrl(request, response)) return
      dropWhenStalled(response, stalledMs)
      // A connection that was busy when the server stopped is kept open after its response, and the stop would wait for it.
      response.on('close', () => server.listening || setImmediate(() => server.closeIdleConnections()))
      // RFC 9112, 6.1: a proxy may have framed such a request differently.
      if (request.httpVersion === '1.0' && request.headers['transfer-encoding'] !== undefined) {
        return refuse(response, BAD_REQUEST)
      }
      try {
        await handle(request, response)
      } catch (error) {
        log.error({ err: error, server: name }, 'HTTP handler failed')
        refuse(response, FAULT)
      }
    },
  )
  answerUnparsedRequests(server)
  return server
}

/**
 * Drops a connection whose client reads nothing of a finished response for `stalledMs`, because the response stays in
 * memory. Unfinished responses are exempt: their handler may take long.
 */
function dropWhenStalled(response: ServerResponse, stalledMs: number): void {
  response.on('prefinish', () => response.socket?.setTimeout(stalledMs))
  response.on('timeout', () => {
    if (response.writableEnded) response.destroy()
  })
}

const BAD_REQUEST = {
  code: 'VALIDATION_FAILED',
  message: 'Transfer-Encoding needs HTTP/1.1.',
  status: 400,
} as const
const FAULT = { code: 'INTERNAL_ERROR', message: 'The request could not be handled.', status: 500 } as const
