import type { Operation } from '../../openapi/operation.ts'
import { Listener, ListenerBody, PollBody, PolledEvents, QueuedEvent, TestEventBody } from './webhooks.schema.ts'

const tag = 'Webhooks'
const scopes = ['webhooks'] as const

export const webhookOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/tryon/v1/webhooks/listeners',
    id: 'createListener',
    scopes,
    tag,
    summary: 'Listen to the events of the account',
    description:
      'For development, as `drape listen` does. A listener gets the events that happen while it polls; it ends 60 seconds after its last poll. At most 5 at the same time.',
    body: { json: ListenerBody },
    repeatable: true,
    answers: {
      201: {
        description: 'Events are collected for it.',
        schema: Listener,
        next: { pollListener: { id: '$response.body#/listenerId' } },
      },
    },
    errors: ['VALIDATION_FAILED', 'QUOTA_EXCEEDED'],
  },
  {
    method: 'post',
    path: '/tryon/v1/webhooks/listeners/{id}/poll',
    id: 'pollListener',
    scopes,
    tag,
    summary: 'Fetch the next events of a listener',
    description:
      'Reports the outcomes of the events before, and waits for others. At most 300 polls per minute and account.',
    parameters: { id: 'The listenerId.' },
    body: { json: PollBody },
    answers: { 200: { description: 'Events, each at least once.', schema: PolledEvents } },
    errors: ['VALIDATION_FAILED', 'LISTENER_NOT_FOUND'],
  },
  {
    method: 'delete',
    path: '/tryon/v1/webhooks/listeners/{id}',
    id: 'deleteListener',
    scopes,
    tag,
    summary: 'End a listener',
    parameters: { id: 'The listenerId.' },
    answers: { 204: { description: 'Ended, or not known.' } },
    errors: [],
  },
  {
    method: 'post',
    path: '/tryon/v1/webhooks/events',
    id: 'sendTestEvent',
    scopes,
    tag,
    summary: 'Send a test event',
    description:
      'A webhook that is delivered and signed as all others, with `test: true` in its data; what it names does not exist.',
    body: { json: TestEventBody },
    repeatable: true,
    answers: { 201: { description: 'On its way.', schema: QueuedEvent } },
    errors: ['VALIDATION_FAILED'],
  },
  {
    method: 'post',
    path: '/tryon/v1/webhooks/events/{id}/resend',
    id: 'resendEvent',
    scopes,
    tag,
    summary: 'Send an event again',
    description:
      'To all active receivers that got the event, and to the listeners that ask for its type; or one delivery again. Events are stored for 14 days; `customer.erased` until it is delivered.',
    parameters: { id: 'The webhook-id of the event, evt_…, or the number of a delivery.' },
    answers: { 200: { description: 'On its way, with the same webhook-id.', schema: QueuedEvent } },
    errors: ['EVENT_NOT_FOUND'],
  },
]
