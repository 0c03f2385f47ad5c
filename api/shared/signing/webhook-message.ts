import { signWebhook } from './webhook-signature.ts'

export interface WebhookContent {
  readonly type: string
  /** Time of the event. */
  readonly timestamp: string
  /** Includes the accountId. */
  readonly data: unknown
}

/** Builds the Standard Webhooks request of an event: headers and body, signed with each secret. */
export function createMessage(
  { eventId, sentAt, content: { type, timestamp, data } }: { eventId: string; sentAt: Date; content: WebhookContent },
  secrets: readonly string[],
) {
  const seconds = Math.floor(sentAt.getTime() / 1000)
  const body = JSON.stringify({ type, timestamp, data })
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Drape',
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signWebhook({ id: eventId, timestamp: seconds, body }, secrets),
  }
  return { headers, body }
}
