import type { PendingEvent } from './event-outbox.store.ts'

export interface AnalyticsSettings {
  /** Base URL of the provider, which serves `/batch/`. Chosen by the operator, so any address is allowed. */
  readonly url: string
  readonly key: string
  /** Time limit for the whole exchange. Default 10 s. */
  readonly timeoutMs?: number
}

/**
 * `refused`: an event of the batch is invalid. `retry`: send again, after `afterSeconds` if the provider requests a
 * delay.
 */
export type SendResult =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterSeconds: number | null }

export type SendEvents = (events: readonly PendingEvent[], signal: AbortSignal) => Promise<SendResult>

/** Sends events to a provider that accepts batches as PostHog does (https://posthog.com/docs/api/capture). Never throws. */
export function createAnalyticsProvider({ url, key, timeoutMs = 10_000 }: AnalyticsSettings): SendEvents {
  const address = new URL('batch/', url.endsWith('/') ? url : `${url}/`)
  return async (events, signal) => {
    try {
      const answer = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Drape' },
        body: JSON.stringify({ api_key: key, batch: events.map(presentEvent) }),
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      await answer.body?.cancel()
      return outcomeOf(answer)
    } catch (error) {
      return { outcome: 'retry', reason: reasonOf(error), afterSeconds: null }
    }
  }
}

/**
 * Statuses that concern the batch: malformed, too large, unprocessable. Others concern the key, the URL or the
 * provider.
 */
const REFUSED = [400, 413, 422]

function outcomeOf({ ok, status, headers }: Response): SendResult {
  if (ok) return { outcome: 'accepted' }
  const reason = `the provider returned ${status}`
  if (REFUSED.includes(status)) return { outcome: 'refused', reason }
  return { outcome: 'retry', reason, afterSeconds: parseRetryAfter(headers.get('retry-after')) }
}

/** Accepts seconds or an HTTP date. */
function parseRetryAfter(text: string | null): number | null {
  if (text === null) return null
  const seconds = /^\d+$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error }
  return cause instanceof Error ? cause.message : message
}

/** Event in the format of `POST /batch/`. Fields of the event and its page never override reserved fields. */
function presentEvent(event: PendingEvent) {
  const { key, name, accountId, shopId, anonymousId, sessionId, customerId } = event
  return {
    event: name,
    distinct_id: anonymousId ?? customerId ?? key,
    timestamp: event.happenedAt.toISOString(),
    uuid: key,
    properties: {
      ...(event.context as object),
      ...(event.properties as object),
      $insert_id: event.insertId,
      ...(sessionId !== null && { $session_id: sessionId }),
      account_id: accountId,
      shop_id: shopId,
      customer_id: customerId,
    },
  }
}
