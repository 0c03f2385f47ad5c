import { named } from '../http/openapi/named-schema.ts'
import { type Static, Type } from '../shared/contract/schema.ts'
import { WEBHOOK_EVENTS } from './webhooks.store.ts'

export const MAX_POLLED = 20
const MAX_WAIT_SECONDS = 20

const EventTypes = Type.Array(Type.Enum([...WEBHOOK_EVENTS]), { minItems: 1, maxItems: 10, uniqueItems: true })

export const ListenerBody = Type.Object({
  events: Type.Optional({ ...EventTypes, description: 'Event types to listen to. Default: all.' }),
})
export type ListenerBody = Static<typeof ListenerBody>

export const Listener = named(
  'Listener',
  Type.Object({
    listenerId: Type.String(),
    events: EventTypes,
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Expiry of the listener, 60 seconds after the last poll.',
    }),
  }),
)
export type Listener = Static<typeof Listener>

const DeliveryOutcome = Type.Object({
  deliveryId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  status: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 599, description: 'The HTTP status that the local program returned.' }),
  ),
  error: Type.Optional(Type.String({ maxLength: 500, description: 'Reason why the local program did not respond.' })),
})

export const PollBody = Type.Object({
  outcomes: Type.Array(DeliveryOutcome, {
    default: [],
    maxItems: MAX_POLLED,
    description:
      'Outcomes of polled events. Without status and error, an event counts as delivered. An event without an outcome is returned again after 30 seconds.',
  }),
  waitSeconds: Type.Integer({
    default: MAX_WAIT_SECONDS,
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    description: 'Seconds to wait for an event.',
  }),
})
export type PollBody = Static<typeof PollBody>

export const PolledEvents = named(
  'PolledEvents',
  Type.Object({
    events: Type.Array(
      Type.Object({
        deliveryId: Type.Integer(),
        eventId: Type.String({ description: 'The webhook-id of the event.' }),
        type: Type.String(),
        timestamp: Type.String({ format: 'date-time', description: 'Time of the event.' }),
        data: Type.Object({ accountId: Type.String() }, { additionalProperties: true }),
      }),
      { description: `At most ${MAX_POLLED}, in order; empty after waitSeconds.` },
    ),
    expiresAt: Type.String({ format: 'date-time' }),
  }),
)
export type PolledEvents = Static<typeof PolledEvents>

export const TestEventBody = Type.Object({
  type: Type.Enum([...WEBHOOK_EVENTS, 'webhook.test']),
  endpointId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'An endpoint of the account that receives the event. Default: the listeners of the account.',
    }),
  ),
})
export type TestEventBody = Static<typeof TestEventBody>

export const QueuedEvent = named(
  'QueuedEvent',
  Type.Object({
    eventId: Type.String(),
    deliveries: Type.Integer({ description: 'Number of receivers of the event.' }),
  }),
)
export type QueuedEvent = Static<typeof QueuedEvent>
