import { type ConnectionOptions, createConnection } from './connection.ts'
import { createKey } from './idempotency-key.ts'
import { type CallOptions, readKey } from './request.ts'
import type { EventsAnswer, StorefrontBatch } from './schemas.ts'

export interface EventSenderOptions extends Omit<ConnectionOptions, 'apiKey'> {
  /** Publishable key `pk_…`, which need not be kept secret. */
  readonly publishableKey: string
}

type SentEvent = StorefrontBatch['events'][number]

/** Event of a shopper. Default: the current time and a new ID. */
export type ShopperEvent = Omit<SentEvent, 'timestamp' | '$insert_id'> & Partial<SentEvent>

/**
 * Sends at most 50 events. Retries are idempotent: each event counts once. Never rejects, so that analytics cannot
 * break a page: a failure is `{ success: false, message }`.
 */
export type SendEvents = (
  events: readonly ShopperEvent[],
  context: StorefrontBatch['context'],
  options?: CallOptions,
) => Promise<EventsAnswer>

/**
 * Creates a function that sends events of shoppers to the service, from apps, pages of any origin and servers. Throws a TypeError when
 * `url` is not an http or https URL, or `publishableKey` not a key.
 */
export function createEventSender({ publishableKey, ...options }: EventSenderOptions): SendEvents {
  const connection = createConnection(options)
  const authorization = `Bearer ${readKey('publishableKey', publishableKey)}`
  return async (events, context, { signal } = {}) => {
    const timestamp = new Date().toISOString()
    const sent = events.map((event) => ({ timestamp, $insert_id: createKey(), ...event }))
    const headers = { authorization, 'x-service-anonymous-id': context.anonymous_id }
    const call = {
      method: 'POST',
      api: '/storefront/v1',
      path: ['events'],
      body: { events: sent, context },
      headers,
      signal,
    } as const
    return connection.call<EventsAnswer>(call).catch((error: Error) => ({ success: false, message: error.message }))
  }
}
