import { DrapeConnectionError, DrapeTimeoutError, readError } from './api-error.ts'
import { withRetries } from './retry.ts'

export interface ConnectionOptions {
  /** Where the service is, for example `https://tryon.example.com`; in a page, the server of the page that passes calls on. */
  readonly url: string
  /** The secret key `sk_…`. It belongs on servers alone: a page leaves it out and lets its server add it. */
  readonly apiKey?: string | undefined
  /** Further attempts after one that failed and may succeed later: 4. */
  readonly retries?: number | undefined
  /** Ms that one attempt may take: 120,000. */
  readonly timeout?: number | undefined
  /** Ms that `Retry-After` may ask for; a call that would have to wait for longer fails at once: 60,000. */
  readonly maxRetryDelay?: number | undefined
  /** Takes the place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface WriteOptions extends CallOptions {
  /** A key of your own, where a call is to be safe to repeat after a crash as well; one is made for each call. */
  readonly idempotencyKey?: string | undefined
}

export interface Call extends WriteOptions {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** After the URL of the service, with its parameters encoded. */
  readonly path: string
  readonly query?: object
  /** FormData as it is, anything else as JSON. */
  readonly body?: unknown
  /** Beside those that follow from the rest. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends calls to the service. Both throw what `DrapeClient` says. */
export interface Connection {
  /** The body of the answer, as JSON; undefined when it has none. Attempts that may succeed later are made again. */
  call<T>(call: Call): Promise<T>
  /** The answer as it comes, of one attempt. A silent one is not ended by anything but the signal. */
  open(call: Call): Promise<Response>
  /** The bytes behind a link of the service. */
  download(link: string, options: CallOptions): Promise<Blob>
}

/** @throws TypeError when `url` is no address of HTTP */
export function createConnection(options: ConnectionOptions): Connection {
  const base = readBase(options.url)
  const { retries = 4, timeout = 120_000, maxRetryDelay = 60_000 } = options
  const send = options.fetch ?? ((input, init) => fetch(input, init))
  const timed = async <T>(signal: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const late = AbortSignal.timeout(timeout)
    try {
      return await run(signal ? AbortSignal.any([signal, late]) : late)
    } catch (error) {
      throw late.aborted && !signal?.aborted ? new DrapeTimeoutError(`No answer within ${timeout} ms.`) : error
    }
  }
  const repeat = <T>({ signal }: CallOptions, run: (signal: AbortSignal) => Promise<T>) =>
    withRetries(() => timed(signal, run), { retries, maxRetryDelay, signal })
  return {
    call: (call) => {
      const request = describe(call, options.apiKey)
      return repeat(call, async (signal) => {
        const response = await answered(signal, () => send(base + targetOf(call), { ...request, signal }))
        return readJson(response, await answered(signal, () => response.text()))
      })
    },
    open: async (call) => {
      const init = { ...describe(call, options.apiKey), ...(call.signal && { signal: call.signal }) }
      const response = await answered(call.signal, () => send(base + targetOf(call), init))
      if (!response.ok) throw readError(response, await answered(call.signal, () => response.text()))
      return response
    },
    download: (link, call) =>
      repeat(call, async (signal) => {
        const response = await answered(signal, () => send(new URL(link, `${base}/`), { signal }))
        if (!response.ok) throw readError(response, await answered(signal, () => response.text()))
        return answered(signal, () => response.blob())
      }),
  }
}

function readBase(url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return url.replace(/\/+$/, '')
  throw new TypeError(`url must be the address of the service, as https://tryon.example.com, not "${url}".`)
}

function targetOf({ path, query = {} }: Call): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? path : `${path}?${given}`
}

/** The same for each attempt, so that the service knows the second for the first. */
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

async function answered<T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw new DrapeConnectionError(`The service could not be reached: ${reasonOf(error)}`, { cause: error })
  }
}

/** Node's fetch keeps what happened one level below. */
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
