import { invalidField } from './api-error.ts'
import { toJson } from './json.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface WriteOptions extends CallOptions {
  /** Your own key, for calls that must be safe to repeat after a crash. Default: a new key per call. */
  readonly idempotencyKey?: string | undefined
}

export interface Call extends WriteOptions {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Segments of the path below `api`; encoded when the request is sent. */
  readonly path: readonly string[]
  /** Default: the server API, `/tryon/v1`. */
  readonly api?: string
  readonly query?: object
  /** FormData is sent unchanged, anything else as JSON. */
  readonly body?: unknown
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The URL without final slashes. Throws a TypeError, without the URL, when it is not an http or https URL, or contains a password. */
export function readBase(name: string, url: string): string {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : { protocol: '' }
  if ((protocol === 'http:' || protocol === 'https:') && !username && !password) return url.replace(/\/+$/, '')
  throw new TypeError(`${name} must be the address of the service, for example https://tryon.example.com.`)
}

/** The key without surrounding white space. Throws a TypeError, without the key, when an HTTP header cannot carry it. */
export function readKey(name: string, key: string): string {
  const trimmed = key.trim()
  if (/^[!-~]+$/.test(trimmed)) return trimmed
  const problem =
    trimmed === '' ? 'is empty' : 'contains a character that no key has, such as a space, a line end or "…"'
  throw new TypeError(`${name} ${problem}. Copy the whole key again.`)
}

/** The path with its query, below the URL of the service. Throws `VALIDATION_FAILED` for a segment that a URL cannot carry. */
export function targetOf({ path, api = '/tryon/v1', query = {} }: Call): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  const encoded = `${api}/${path.map(encodeSegment).join('/')}`
  return given.size === 0 ? encoded : `${encoded}?${given}`
}

/** URL parsers and proxies drop these segments: the request would have another path. */
const DROPPED = /^(\.|%2e){0,2}$/i

function encodeSegment(segment: string): string {
  // Untyped programs may pass undefined.
  if (typeof segment === 'string' && !DROPPED.test(segment) && segment.isWellFormed())
    return encodeURIComponent(segment)
  throw invalidField('id', `cannot be part of a URL: ${JSON.stringify(segment)}`)
}

/** Method, headers and body, which are the same for every attempt, so that the service recognises retries. */
export function describeRequest(
  { method, body, idempotencyKey, headers: more }: Call,
  apiKey: string | undefined,
): { readonly method: string; readonly headers: Record<string, string>; readonly body?: FormData | string } {
  const isForm = body instanceof FormData
  const headers: Record<string, string> = {
    ...(apiKey !== undefined && { 'x-api-key': apiKey }),
    ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...more,
  }
  for (const [name, value] of Object.entries(headers)) assertHeader(name, value)
  return { method, headers, ...(body !== undefined && { body: isForm ? body : toJson(body) }) }
}

/** `fetch` would fail with the value, which may be a key, in its message. */
function assertHeader(name: string, value: string): void {
  if (!/^[ -~]*$/.test(value)) throw invalidField(name, 'must be printable ASCII characters')
}
