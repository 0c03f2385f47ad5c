import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'
import type { AddressRule } from './addresses.ts'
import type { LookUpHost } from './host-lookup.ts'

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly isAllowed: AddressRule
  readonly lookup: LookUpHost
  readonly signal: AbortSignal
}

export interface GuardedAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Readable
}

const MAX_HEADER_BYTES = 16_384

const PORTS = new Map([
  ['http:', 80],
  ['https:', 443],
])

/**
 * A URL of a caller that may be asked, its host not yet known; or, in words, why not.
 * @param base what a relative one is relative to
 */
export function vetUrl(
  text: string,
  { allowPorts, base }: { allowPorts: readonly number[]; base?: URL },
): URL | string {
  const url = URL.parse(text, base?.href)
  if (!url || !PORTS.has(url.protocol)) return 'the URL is not a valid http or https URL'
  if (url.username || url.password) return 'the URL holds credentials'
  const port = url.port ? Number(url.port) : PORTS.get(url.protocol)
  return port !== undefined && allowPorts.includes(port) ? url : 'its port is not allowed'
}

/**
 * Asks a URL that callers named, without becoming their way into the network: every address of the host has to be allowed, and the
 * connection goes to the address that was checked. Redirects are not followed. What `read` leaves of the body is broken off.
 * Rejects when the host has other addresses, does not answer or breaks off.
 */
export async function askGuarded<T>(
  url: URL,
  asked: GuardedRequest,
  read: (answer: GuardedAnswer) => Promise<T>,
): Promise<T> {
  const addresses = await allowedAddresses(url, asked)
  // An agent of its own for every visit: a connection kept from an earlier one would skip the check.
  const agent = new Agent({ connect: { lookup: answerWith(addresses) }, maxHeaderSize: MAX_HEADER_BYTES })
  try {
    const { method, headers, body: sent, signal } = asked
    const answer = await request(url, { dispatcher: agent, method, headers, body: sent, signal })
    // Leaving an answer unread breaks it off, which is what we want and no error.
    answer.body.on('error', () => {})
    return await read({ status: answer.statusCode, headers: answer.headers, body: answer.body })
  } finally {
    await agent.destroy()
  }
}

async function allowedAddresses(url: URL, { isAllowed, lookup, signal }: GuardedRequest): Promise<readonly string[]> {
  const literal = literalAddress(url)
  const addresses = literal === null ? await beforeAbort(lookup(url.hostname, signal), signal) : [literal]
  if (addresses.length > 0 && addresses.every(isAllowed)) return addresses
  throw new Error('The host has no address, or one that is not allowed')
}

/** The address that a URL itself holds; null when it holds a name. */
export function literalAddress({ hostname }: URL): string | null {
  const literal = hostname.replace(/^\[|\]$/g, '')
  return isIP(literal) ? literal : null
}

/** Queries end some time after they are cancelled; the caller does not wait for that. */
async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Connects to the addresses that were checked, whatever the resolver would say now. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_, { all }, callback) => {
    if (all) callback(null, found)
    else callback(null, found[0].address, found[0].family)
  }
}
