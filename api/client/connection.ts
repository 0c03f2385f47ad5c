import {
  assertNotRedirected,
  DrapeConnectionError,
  DrapeTimeoutError,
  damagedResponse,
  parseObject,
  readError,
} from './api-error.ts'
import { type Call, type CallOptions, describeRequest, readBase, readKey, targetOf } from './request.ts'
import { withRetries } from './retry.ts'

export interface ConnectionOptions {
  /** URL of the service, e.g. `https://tryon.example.com`. In a page: the page's own server, which forwards calls. */
  readonly url: string
  /** Secret key `sk_…`, for servers only: a page omits it, and its server adds it. */
  readonly apiKey?: string | undefined
  /** Maximum number of retries after transient errors. Default 4. */
  readonly retries?: number | undefined
  /** Time limit of one attempt in ms. Default 120,000. */
  readonly timeout?: number | undefined
  /** Maximum `Retry-After` in ms; a call that would have to wait longer fails immediately. Default 60,000. */
  readonly maxRetryDelay?: number | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

/** Sends calls to the service. Throws the errors that `DrapeClient` documents. */
export interface Connection {
  /** The body of the response as JSON; undefined when it is empty. Retries transient errors. */
  call<T>(call: Call): Promise<T>
  /** The response of a single attempt, as a stream. Only the signal ends a stream without data. */
  open(call: Call): Promise<Response>
  /** The bytes of a link from the service. */
  download(link: string, options: CallOptions): Promise<Blob>
}

/** @throws TypeError when `url` is not an http or https URL, or `apiKey` not a key */
export function createConnection(options: ConnectionOptions): Connection {
  const base = readBase('url', options.url)
  const apiKey = options.apiKey === undefined ? undefined : readKey('apiKey', options.apiKey)
  const { retries = 4, timeout = 120_000, maxRetryDelay = 60_000 } = options
  const send = options.fetch ?? ((input, init) => fetch(input, init))
  /** Never follows a redirect, which would send key and photo to another address, and take its response for the service's. */
  const ask = async (target: string | URL, init: RequestInit): Promise<Response> => {
    const response = await withConnectionErrors(init.signal, () => send(target, { ...init, redirect: 'manual' }))
    await assertNotRedirected(response)
    return response
  }
  const timed = async <T>(signal: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const timedOut = AbortSignal.timeout(timeout)
    try {
      return await run(signal ? AbortSignal.any([signal, timedOut]) : timedOut)
    } catch (error) {
      throw timedOut.aborted && !signal?.aborted ? new DrapeTimeoutError(`No response within ${timeout} ms.`) : error
    }
  }
  const repeat = <T>({ signal }: CallOptions, run: (signal: AbortSignal) => Promise<T>) =>
    withRetries(() => timed(signal, run), { retries, maxRetryDelay, signal })
  return {
    call: async (call) => {
      const [target, request] = [base + targetOf(call), describeRequest(call, apiKey)]
      return repeat(call, async (signal) => {
        const response = await ask(target, { ...request, signal })
        return readJson(response, await readBody(response, signal, () => response.text()))
      })
    },
    open: async (call) => {
      const init = { ...describeRequest(call, apiKey), ...(call.signal && { signal: call.signal }) }
      return assertSuccess(await ask(base + targetOf(call), init), call.signal)
    },
    download: async (link, call) => {
      const target = linkOf(link, base)
      return repeat(call, async (signal) => {
        const response = await assertSuccess(await ask(target, { signal }), signal)
        return readBody(response, signal, () => response.blob())
      })
    },
  }
}

/** The error of an invalid link would show its signature. */
function linkOf(link: string, base: string): URL {
  if (URL.canParse(link, `${base}/`)) return new URL(link, `${base}/`)
  throw new DrapeConnectionError('The service sent an invalid link.')
}

async function assertSuccess(response: Response, signal: AbortSignal | undefined): Promise<Response> {
  if (response.ok) return response
  throw readError(response, await readBody(response, signal, () => response.text()))
}

/** A body can be cut off, or be falsely marked as compressed. */
async function readBody<T>(response: Response, signal: AbortSignal | undefined, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw damagedResponse(response, reasonOf(error))
  }
}

async function withConnectionErrors<T>(signal: AbortSignal | null | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw new DrapeConnectionError(`The service is unreachable: ${reasonOf(error)}`, { cause: error })
  }
}

/** Node's fetch wraps the reason in `cause`. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } }
  return cause?.message || message || String(error)
}

function readJson<T>(response: Response, text: string): T {
  if (!response.ok) throw readError(response, text)
  if (response.status === 204) return undefined as T
  const body = parseObject(text)
  if (body === null) throw readError(response, text)
  return body as T
}
