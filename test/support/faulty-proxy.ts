import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A fault of a request in transit. */
export type Fault =
  /** The service never gets the request. */
  | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** The connection breaks while the body is sent; the service receives a part of it. */
  | 'cut-request'
  /** The service handles the request, and its response is lost. */
  | 'cut-answer'
  /** The connection breaks in the middle of the first bytes of the response. */
  | 'cut-stream'
  /** Sends no response. */
  | 'silence'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly idempotencyKey: string | undefined
  /** Time at which its headers arrived, in ms since 1970. */
  readonly at: number
}

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string
  /** All requests with the method so far. */
  seen(method: string): SeenRequest[]
  /** Faults of the next requests, one each, whose path ends with the text, or whose `METHOD /path` equals it; others pass. */
  fail(path: string | RegExp, ...faults: Fault[]): void
  /** While down, nothing passes, and requests in transit are lost. Once up again, everything passes, without pending faults. */
  setUp(isUp: boolean): void
}

export interface FaultyProxyOptions {
  /** Headers added to every request, as by the server of a shop. */
  readonly apiKey?: string
  /** Own files of the server, by path. */
  readonly files?: Readonly<Record<string, { readonly type: string; readonly text: string }>>
  /** Default: any free port. */
  readonly port?: number
}

/** A proxy of the service that injects faults. */
export async function startFaultyProxy(
  serviceUrl: string,
  { apiKey, files = {}, port = 0 }: FaultyProxyOptions = {},
): Promise<FaultyProxy> {
  const planned: { path: string | RegExp; fault: Fault }[] = []
  const seen: SeenRequest[] = []
  let isUp = true
  const server = createServer((asked, answer) => {
    const path = new URL(asked.url ?? '/', 'http://line').pathname
    if (files[path]) return void answer.setHeader('content-type', files[path].type).end(files[path].text)
    const index = planned.findIndex((plan) => isMeant(plan.path, asked.method ?? '', path))
    const [plan] = index < 0 ? [] : planned.splice(index, 1)
    const { 'idempotency-key': idempotencyKey } = asked.headers
    seen.push({
      method: asked.method ?? '',
      path,
      idempotencyKey: idempotencyKey as string | undefined,
      at: Date.now(),
    })
    const headers = { ...asked.headers, ...(apiKey && { 'x-api-key': apiKey }) }
    meet(plan?.fault, { asked, answer, target: new URL(asked.url ?? '/', serviceUrl), headers })
  })
  server.on('connection', (socket) => isUp || socket.destroy())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: (method) => seen.filter((one) => one.method === method),
    fail: (path, ...faults) => planned.push(...faults.map((fault) => ({ path, fault }))),
    setUp: (value) => {
      isUp = value
      if (isUp) planned.length = 0
      else server.closeAllConnections()
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function isMeant(plan: string | RegExp, method: string, path: string): boolean {
  return typeof plan === 'string' ? path.endsWith(plan) : plan.test(`${method} ${path}`)
}

interface Passage {
  readonly asked: IncomingMessage
  readonly answer: ServerResponse
  readonly target: URL
  readonly headers: IncomingMessage['headers']
}

function meet(fault: Fault | undefined, passage: Passage): void {
  if (fault === 'silence') return
  if (fault === undefined || fault === 'cut-answer' || fault === 'cut-stream') forward(passage, fault)
  else if (fault === 'cut-request') cutInTheMiddle(passage)
  else answerInstead(fault, passage)
}

function answerInstead(fault: Extract<Fault, object>, { asked, answer }: Passage): void {
  asked.resume().on('end', () => {
    answer.writeHead(fault.answer, { 'content-type': 'application/json', ...fault.headers })
    answer.end(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body))
  })
}

function forward({ asked, answer, target, headers }: Passage, fault?: 'cut-answer' | 'cut-stream'): void {
  const cut = () => asked.socket.destroy()
  const asking = request(target, { method: asked.method, headers }, (received) => {
    if (fault === 'cut-answer') return void received.resume().on('end', cut)
    answer.writeHead(received.statusCode ?? 502, received.headers)
    if (fault === 'cut-stream') received.once('data', (chunk) => answer.write(chunk.subarray(0, chunk.length / 2), cut))
    else received.pipe(answer)
  })
  asking.on('error', cut)
  answer.on('close', () => asking.destroy())
  asked.pipe(asking)
}

function cutInTheMiddle({ asked, target, headers }: Passage): void {
  const asking = request(target, { method: asked.method, headers }).on('error', () => {})
  asked.once('data', (chunk: Buffer) => {
    asking.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => {
      asking.destroy()
      asked.socket.destroy()
    })
  })
}
