import { ErrorFields } from '../generations/error-fields.ts'
import { type TSchema, Type } from '../shared/schema.ts'
import type { WebhookEvent } from '../stores/webhooks.ts'

const generation = {
  generationId: Type.String(),
  productExternalId: Type.String(),
  shopId: Type.Optional(Type.String({ description: 'Given when a shopper of this shop asked for it.' })),
}

export interface WebhookMessage {
  readonly description: string
  readonly schema: TSchema
}

function describeMessage(type: string, description: string, data: Record<string, TSchema>): WebhookMessage {
  const schema = Type.Object({
    type: Type.Literal(type),
    timestamp: Type.String({ format: 'date-time', description: 'When it happened.' }),
    data: Type.Object({
      accountId: Type.String(),
      ...data,
      test: Type.Optional(Type.Literal(true, { description: 'Given in test events; what they name does not exist.' })),
    }),
  })
  return { description, schema }
}

export type WebhookMessageType = WebhookEvent | 'webhook.test'

/** The bodies of webhooks, by type. */
export const WEBHOOK_MESSAGES: Readonly<Record<WebhookMessageType, WebhookMessage>> = {
  'generation.completed': describeMessage(
    'generation.completed',
    'A generation has a result, to be fetched by its id.',
    {
      ...generation,
      status: Type.Literal('COMPLETED'),
    },
  ),
  'generation.failed': describeMessage('generation.failed', 'A generation has failed, and its credit came back.', {
    ...generation,
    status: Type.Literal('FAILED'),
    errorCode: Type.Optional(Type.String()),
    errorDetails: Type.Optional(ErrorFields),
  }),
  'credits.low': describeMessage(
    'credits.low',
    'The balance has fallen to the threshold of the account. Sent once, and again only after a top-up above the threshold.',
    { creditBalance: Type.Integer(), creditsLowAt: Type.Integer() },
  ),
  'customer.erased': describeMessage('customer.erased', 'Everything that was stored of a customer is gone.', {
    externalUserId: Type.String(),
  }),
  'webhook.test': describeMessage('webhook.test', 'Sent on request, to test the endpoint.', {
    endpointId: Type.String(),
  }),
}
