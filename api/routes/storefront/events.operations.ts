import type { Operation } from '../../openapi/operation.ts'
import { EventsAnswer, StorefrontBatch, TrackingBatch } from './events.schema.ts'

const tag = 'Analytics'
const answers = {
  200: {
    description:
      'Whether the whole batch was accepted. Events that are not valid are rejected, the others are stored, and the message describes the ' +
      'first; when the batch is not, or cannot be stored now, nothing is kept and the batch may be sent again.',
    schema: EventsAnswer,
  },
}

export const eventOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/storefront/v1/events',
    id: 'sendEvents',
    tag,
    summary: 'Send what a shopper did',
    description:
      'From an app, a headless shop or a server with the publishable key; from a storefront through the proxy of the shop.',
    headers: {
      'X-Service-Anonymous-Id': 'The anonymous_id of the context. A proxy need not pass it on.',
      'X-Service-Customer-Id': 'The shop platform’s id of the customer. Only read behind the publishable key.',
      'X-Service-Customer-Email': 'The customer’s e-mail address. Only read behind the publishable key.',
    },
    access: 'events',
    body: { json: StorefrontBatch },
    answers,
    errors: ['RATE_LIMIT_EXCEEDED'],
  },
  {
    method: 'post',
    path: '/public/tracking/events',
    id: 'trackEvents',
    tag,
    summary: 'Send what a shopper did in the widget',
    description: 'For the widget behind the proxy of a shop.',
    access: 'shop',
    body: { json: TrackingBatch },
    answers,
    errors: ['RATE_LIMIT_EXCEEDED'],
  },
]
