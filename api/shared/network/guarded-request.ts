import type { Readable } from 'node:stream'
import { request } from 'undici'
import type { AddressRule } from './addresses.ts'
import type { LookUpHost } from './host-lookup.ts'
import { createPinnedAgent } from './proxies.ts'
import { literalAddress } from './vet-url.ts'

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly isAllowed: AddressRule
  readonly lookup: LookUpHost
  readonly signal: AbortSignal
}

export interface GuardedResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: Readable
}

const MAX_HEADER_BYTES = 16_384

/**
 * Requests a caller's URL and prevents server-side request forgery: every address of the host must be allowed, and the
 * connection uses the checked address. Does not follow redirects. Aborts the part of the body that `read` leaves.
 * Throws when an address is not allowed, or the host does not respond or closes the connection.
 */
export async function requestGuarded<T>(
  url: URL,
  asked: GuardedRequest,
  read: (response: GuardedResponse) => Promise<T>,
): Promise<T> {
  const addresses = await allowedAddresses(url, asked)
  // One agent per request: a reused connection would bypass the address check.
  const agent = createPinnedAgent(addresses, { maxHeaderSize: MAX_HEADER_BYTES })
  try {
    const { method, body: sent, signal } = asked
    // A copy: for a proxy, undici adds the host to the object, by which TLS would then verify the next server.
    const headers = { ...asked.headers }
    // Before it has a connection, undici does not reject on abort: a proxy may take minutes to connect.
    const response = await rejectOnAbort(
      request(url, { dispatcher: agent, method, headers, body: sent, signal }),
      signal,
    )
    // Destroying an unread response aborts it, which is intended and not an error.
    response.body.on('error', () => {})
    return await read({ status: response.statusCode, headers: response.headers, body: response.body })
  } finally {
    await agent.destroy()
  }
}

async function allowedAddresses(url: URL, { isAllowed, lookup, signal }: GuardedRequest): Promise<readonly string[]> {
  const literal = literalAddress(url)
  const addresses = literal === null ? await rejectOnAbort(lookup(url.hostname, signal), signal) : [literal]
  if (addresses.length > 0 && addresses.every(isAllowed)) return addresses
  throw new Error('The host has no address or an address that is not allowed')
}

/** What is cancelled takes a while to end; the caller does not wait. */
async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
