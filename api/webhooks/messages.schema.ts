import { ErrorFields } from '../generations/error-fields.ts'
import { OutfitLayer } from '../generations/generations.schema.ts'
import { type TSchema, Type } from '../shared/contract/schema.ts'
import type { WebhookEvent } from './webhooks.store.ts'

export const REVIEW_DECISIONS = ['ALLOWED', 'REFUSED', 'BLOCKED'] as const

const generation = {
  generationId: Type.String(),
  productExternalId: Type.String({
    description: 'Of an outfit, the first product that its image shows; of a failed outfit, the first product.',
  }),
  layers: Type.Optional(
    Type.Array(OutfitLayer, { description: 'The products of an outfit, in the order of the call.' }),
  ),
  shopId: Type.Optional(Type.String({ description: 'Shop whose shopper requested the generation.' })),
}

export interface WebhookMessage {
  readonly description: string
  readonly schema: TSchema
}

function describeMessage(type: string, description: string, data: Record<string, TSchema>): WebhookMessage {
  const schema = Type.Object({
    type: Type.Literal(type),
    timestamp: Type.String({ format: 'date-time', description: 'Time of the event.' }),
    data: Type.Object({
      accountId: Type.String(),
      ...data,
      test: Type.Optional(
        Type.Literal(true, { description: 'True for test events. The objects that a test event names do not exist.' }),
      ),
    }),
  })
  return { description, schema }
}

export type WebhookMessageType = WebhookEvent | 'webhook.test'

/** Webhook bodies by event type. */
export const WEBHOOK_MESSAGES: Readonly<Record<WebhookMessageType, WebhookMessage>> = {
  'generation.completed': describeMessage(
    'generation.completed',
    'A generation has completed. Fetch the result by its id.',
    {
      ...generation,
      status: Type.Literal('COMPLETED'),
      reused: Type.Optional(Type.Literal(true, { description: 'As reused of a generation.' })),
    },
  ),
  'generation.failed': describeMessage('generation.failed', 'A generation has failed, and its credits were refunded.', {
    ...generation,
    status: Type.Literal('FAILED'),
    errorCode: Type.Optional(Type.String()),
    errorDetails: Type.Optional(ErrorFields),
  }),
  'credits.low': describeMessage(
    'credits.low',
    'The balance has fallen to or below the threshold of the account. Sent once, and again only after a top-up above the threshold.',
    { creditBalance: Type.Integer(), creditsLowAt: Type.Integer() },
  ),
  'customer.erased': describeMessage('customer.erased', 'All stored data of a customer has been erased.', {
    externalUserId: Type.String(),
    erasureId: Type.String(),
  }),
  'erasure.confirmed': describeMessage(
    'erasure.confirmed',
    'Storage, workers, caches and the erasure log have confirmed an erasure: the signed receipt is available.',
    { erasureId: Type.String() },
  ),
  'review.decided': describeMessage(
    'review.decided',
    'An operator has decided on the appeal of a refusal by a safety check. Fetch the answer by the id of the generation.',
    { ...generation, state: Type.Enum([...REVIEW_DECISIONS]) },
  ),
  'webhook.test': describeMessage('webhook.test', 'Test event, sent on request.', {
    endpointId: Type.String(),
  }),
}
