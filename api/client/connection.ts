import { DrapeConnectionError, DrapeTimeoutError, readError } from './api-error.ts'
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

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface WriteOptions extends CallOptions {
  /** Your own key, for calls that must be safe to repeat after a crash. Default: a new key per call. */
  readonly idempotencyKey?: string | undefined
}

export interface Call extends WriteOptions {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path below the URL of the service, with encoded parameters. */
  readonly path: string
  readonly query?: object
  /** FormData is sent unchanged, anything else as JSON. */
  readonly body?: unknown
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>
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

/** @throws TypeError when `url` is not an http or https URL */
export function createConnection(options: ConnectionOptions): Connection {
  const base = readBase(options.url)
  const { retries = 4, timeout = 120_000, maxRetryDelay = 60_000 } = options
  const send = options.fetch ?? ((input, init) => fetch(input, init))
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
    call: (call) => {
      const request = describe(call, options.apiKey)
      return repeat(call, async (signal) => {
        const response = await withConnectionErrors(signal, () => send(base + targetOf(call), { ...request, signal }))
        return readJson(response, await withConnectionErrors(signal, () => response.text()))
      })
    },
    open: async (call) => {
      const init = { ...describe(call, options.apiKey), ...(call.signal && { signal: call.signal }) }
      const response = await withConnectionErrors(call.signal, () => send(base + targetOf(call), init))
      if (!response.ok) throw readError(response, await withConnectionErrors(call.signal, () => response.text()))
      return response
    },
    download: (link, call) =>
      repeat(call, async (signal) => {
        const response = await withConnectionErrors(signal, () => send(new URL(link, `${base}/`), { signal }))
        if (!response.ok) throw readError(response, await withConnectionErrors(signal, () => response.text()))
        return withConnectionErrors(signal, () => response.blob())
      }),
  }
}

function readBase(url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return url.replace(/\/+$/, '')
  throw new TypeError(`url must be the address of the service, for example https://tryon.example.com, not "${url}".`)
}

function targetOf({ path, query = {} }: Call): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? path : `${path}?${given}`
}

/** The same for every attempt, so that the service recognises retries. */
function describe({ method, body, idempotencyKey, headers: more }: Call, apiKey: string | undefined) {
  const isForm = body instanceof FormData
  const headers: Record<string, string> = {
    ...(apiKey !== undefined && { 'x-api-key': apiKey }),
    ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...more,
  }
  return { method, headers, ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }) }
}

async function withConnectionErrors<T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
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
  try {
    return JSON.parse(text) as T
  } catch {
    throw readError(response, text)
  }
}
