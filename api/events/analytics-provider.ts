import type { UntoldEvent } from '../stores/event-outbox.ts'

export interface AnalyticsSettings {
  /** The provider's base, under which `/batch/` lies. The operator's own choice, so any address is allowed. */
  readonly url: string
  readonly key: string
  /** From the call to the whole answer; default 10 s. */
  readonly timeoutMs?: number
}

/** `refused` will be refused again; `later` may work, not before `afterSeconds` when the provider says so. */
export type Told =
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'later'; readonly reason: string; readonly afterSeconds: number | null }

export type TellProvider = (events: readonly UntoldEvent[], signal: AbortSignal) => Promise<Told>

/** Tells events to a provider that takes batches as PostHog does (https://posthog.com/docs/api/capture). Never throws. */
export function createAnalyticsProvider({ url, key, timeoutMs = 10_000 }: AnalyticsSettings): TellProvider {
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
      return judge(answer)
    } catch (error) {
      return { outcome: 'later', reason: reasonOf(error), afterSeconds: null }
    }
  }
}

/** Statuses of refusals that are no judgement of the batch. */
const FOR_NOW = [408, 429]

function judge({ ok, status, headers }: Response): Told {
  if (ok) return { outcome: 'taken' }
  const reason = `the provider answered ${status}`
  if (status >= 400 && status < 500 && !FOR_NOW.includes(status)) return { outcome: 'refused', reason }
  return { outcome: 'later', reason, afterSeconds: parseRetryAfter(headers.get('retry-after')) }
}

/** Seconds, or a date. */
function parseRetryAfter(text: string | null): number | null {
  if (text === null) return null
  const seconds = /^\d+$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error }
  return cause instanceof Error ? cause.message : message
}

/** As `POST /batch/` takes it. What the event and its page tell never replaces what we know. */
function presentEvent(event: UntoldEvent) {
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
