import { createAddressRule } from '../shared/network/addresses.ts'
import { readBounded } from '../shared/network/bounded-body.ts'
import { type GuardedResponse, requestGuarded } from '../shared/network/guarded-request.ts'
import type { LookUpHost } from '../shared/network/host-lookup.ts'
import { vetUrl } from '../shared/network/vet-url.ts'
import { createMessage } from '../shared/signing/webhook-message.ts'
import type { ClaimedDelivery } from './webhook-deliveries.store.ts'

export interface WebhookSenderSettings {
  /** Non-public networks that endpoints may be in. */
  readonly allowCidrs: readonly string[]
  readonly allowPorts: readonly number[]
  /** Time limit for the whole exchange. Default 10 s. */
  readonly timeoutMs?: number
  /** The secrets that sign a delivery, newest first. */
  readonly openSecrets: (delivery: ClaimedDelivery) => Promise<readonly string[]>
  readonly lookup: LookUpHost
}

/**
 * Outcome of an attempt. `gone`: stop delivering to the endpoint. `refused`: retry, after `afterSeconds` if the
 * endpoint requested a delay. `isFailing`: the endpoint itself is failing, not only this message.
 */
export type Sent =
  | { readonly outcome: 'taken'; readonly status: number }
  | { readonly outcome: 'gone'; readonly status: number; readonly reason: string }
  | {
      readonly outcome: 'refused'
      readonly status: number | null
      readonly reason: string
      readonly afterSeconds: number | null
      readonly isFailing: boolean
    }

export type SendWebhook = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Sent>

/**
 * Maximum number of bytes read from the response body, which is ignored. Reading some lets a well-behaved server finish
 * its response.
 */
const MAX_BYTES = 16_384

/** Sends a delivery as a Standard Webhooks request. Does not follow redirects. Never throws. */
export function createWebhookSender({
  allowCidrs,
  allowPorts,
  openSecrets,
  timeoutMs = 10_000,
  lookup,
}: WebhookSenderSettings): SendWebhook {
  const isAllowed = createAddressRule(allowCidrs)
  return async (delivery, signal) => {
    const url = vetUrl(delivery.url, { allowPorts })
    if (typeof url === 'string') return unreachable(url)
    const timeout = AbortSignal.timeout(timeoutMs)
    const guard = { isAllowed, lookup, signal: AbortSignal.any([signal, timeout]) }
    const secrets = await openSecrets(delivery).catch(() => null)
    if (secrets === null) return unreachable('the secret could not be decrypted')
    try {
      return await requestGuarded(url, { method: 'POST', ...messageOf(delivery, secrets), ...guard }, readResponse)
    } catch {
      const reason = timeout.aborted
        ? `no response within ${timeoutMs / 1000} s`
        : 'the connection failed or was closed early'
      return unreachable(reason)
    }
  }
}

function messageOf(
  { eventId, type, data, happenedAt, accountId, claimedAt }: ClaimedDelivery,
  secrets: readonly string[],
) {
  const content = { type, timestamp: happenedAt.toISOString(), data: { accountId, ...(data as object) } }
  return createMessage({ eventId, sentAt: claimedAt, content }, secrets)
}

async function readResponse({ status, headers, body }: GuardedResponse): Promise<Sent> {
  // Errors are ignored: the status is already known.
  await readBounded(body, MAX_BYTES).catch(() => {})
  if (status >= 200 && status <= 299) return { outcome: 'taken', status }
  const reason = `the endpoint returned ${status}`
  if (status === 410) return { outcome: 'gone', status, reason }
  const isFailing = status >= 500 || TRANSIENT_STATUSES.includes(status)
  return { outcome: 'refused', status, reason, afterSeconds: parseRetryAfter(headers['retry-after']), isFailing }
}

/** Refusals that do not concern the message itself. */
const TRANSIENT_STATUSES = [408, 425, 429]

/** Accepts seconds or an HTTP date. */
function parseRetryAfter(header: string | string[] | undefined): number | null {
  if (typeof header !== 'string') return null
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

function unreachable(reason: string): Sent {
  return { outcome: 'refused', status: null, reason, afterSeconds: null, isFailing: true }
}
