import { DrapeError } from '../../shared/contract/errors.ts'
import type { AddressRule } from '../../shared/network/addresses.ts'
import { adminUrlProblem } from '../../shops/admin-url.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024

export interface ShopifyRequest {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: object
}

/** Any response but a fault of the platform. */
export interface ShopifyResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export type RequestShopify = (shop: ShopRecord, request: ShopifyRequest) => Promise<ShopifyResponse>

/**
 * Creates a function that posts JSON to a shop on Shopify, with credentials, hence to no other host. The function throws
 * a retryable `SERVICE_UNAVAILABLE` when the shop is unavailable, a non-retryable one for an address that is not allowed,
 * a redirect or a response that is too large.
 */
export function createShopifyRequest({
  isPlainAllowed,
  answerMs = TIMEOUT_MS,
}: {
  /** IP addresses to which a token may be sent without TLS. */
  isPlainAllowed: AddressRule
  answerMs?: number
}): RequestShopify {
  return async ({ adminUrl, domain }, { path, headers, body }) => {
    const base = adminUrl ?? `https://${domain}`
    const why = adminUrlProblem(base, isPlainAllowed)
    if (why !== null) throw refused(`was not queried: its address ${why}`)
    const response = await fetch(`${base.replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    }).catch((cause) => {
      throw unavailable('is unreachable', cause)
    })
    const text = await readText(response).catch((cause) => {
      throw cause instanceof DrapeError ? cause : unavailable('did not complete its response', cause)
    })
    if (response.status >= 500 || response.status === 430) throw unavailable(`returned ${response.status}`)
    if (response.status >= 300 && response.status < 400)
      throw refused(`answered ${response.status}, a redirect: enter the new address as the URL of its API`)
    return { status: response.status, headers: response.headers, text }
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_RESPONSE_BYTES) throw refused('returned a response that is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('did not return JSON')
  }
}

export function unavailable(what: string, cause?: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', `The platform of the shop ${what}.`, { retryable: true, cause })
}

export function refused(what: string): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', `The platform of the shop ${what}.`)
}
