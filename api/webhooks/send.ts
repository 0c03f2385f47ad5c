import type { Readable } from 'node:stream'
import { createAddressRule } from '../shared/addresses.ts'
import { askGuarded, type GuardedAnswer, vetUrl } from '../shared/guarded-request.ts'
import type { LookUpHost } from '../shared/host-lookup.ts'
import type { ClaimedDelivery } from '../stores/webhook-deliveries.ts'
import { createMessage } from './message.ts'

export interface WebhookSenderSettings {
  /** Networks that endpoints may lie in although they are not public. */
  readonly allowCidrs: readonly string[]
  readonly allowPorts: readonly number[]
  /** From the call to the end of the answer; default 10 s. */
  readonly timeoutMs?: number
  /** The secrets that sign a delivery, newest first. */
  readonly openSecrets: (delivery: ClaimedDelivery) => Promise<readonly string[]>
  readonly lookup: LookUpHost
}

/**
 * The outcome of an attempt. An endpoint that is `gone` gets nothing any more; what is `refused` may be tried again, not before
 * `afterSeconds` when the endpoint says so. `isTroubled` when that was not about this message but about any.
 */
export type Sent =
  | { readonly outcome: 'taken'; readonly status: number }
  | { readonly outcome: 'gone'; readonly status: number; readonly reason: string }
  | {
      readonly outcome: 'refused'
      readonly status: number | null
      readonly reason: string
      readonly afterSeconds: number | null
      readonly isTroubled: boolean
    }

export type SendWebhook = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Sent>

/** Of an answer's body, which says nothing to us; so that an honest server is not broken off while it speaks. */
const MAX_BYTES = 16_384

/** Sends a delivery as Standard Webhooks has it. Redirects are not followed. Never throws. */
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
    const late = AbortSignal.timeout(timeoutMs)
    const guard = { isAllowed, lookup, signal: AbortSignal.any([signal, late]) }
    const secrets = await openSecrets(delivery).catch(() => null)
    if (secrets === null) return unreachable('its secret could not be opened')
    try {
      return await askGuarded(url, { method: 'POST', ...messageOf(delivery, secrets), ...guard }, readAnswer)
    } catch {
      const reason = late.aborted ? `no answer within ${timeoutMs / 1000} s` : 'it could not be reached or broke off'
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

async function readAnswer({ status, headers, body }: GuardedAnswer): Promise<Sent> {
  await skip(body)
  if (status >= 200 && status <= 299) return { outcome: 'taken', status }
  const reason = `it answered ${status}`
  if (status === 410) return { outcome: 'gone', status, reason }
  const isTroubled = status >= 500 || FOR_NOW.includes(status)
  return { outcome: 'refused', status, reason, afterSeconds: parseRetryAfter(headers['retry-after']), isTroubled }
}

/** Statuses of refusals that are no judgement of the message. */
const FOR_NOW = [408, 425, 429]

/** The status is known: nothing that happens to the rest changes it. */
async function skip(body: Readable): Promise<void> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > MAX_BYTES) return
    }
  } catch {}
}

/** Seconds, or a date. */
function parseRetryAfter(header: string | string[] | undefined): number | null {
  if (typeof header !== 'string') return null
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

function unreachable(reason: string): Sent {
  return { outcome: 'refused', status: null, reason, afterSeconds: null, isTroubled: true }
}
