import { WEBHOOK_MESSAGES, type WebhookMessageType } from '../../webhooks/messages.schema.ts'
import { testDataOf } from '../../webhooks/test-events.ts'
import { describeSchema, type JsonSchema, type Names } from './json-schema.ts'

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Unique id of the message. Retries have the same id: use it to ignore duplicates.',
  'webhook-timestamp': 'Time of this attempt, in seconds since 1970.',
  'webhook-signature':
    '`v1,` followed by the base64 HMAC-SHA256 of id, timestamp and body, joined by full stops; one signature per active secret, separated by spaces.',
}

/** The message that `POST /tryon/v1/webhooks/events` sends. */
function exampleOf(type: WebhookMessageType): JsonSchema {
  return { type, timestamp: '2026-05-12T09:30:09.412Z', data: { accountId: 'acc_1', ...testDataOf(type, '1') } }
}

/** Webhooks of the service, as the `webhooks` of OpenAPI 3.1. */
export function describeWebhooks(names: Names): Record<string, JsonSchema> {
  const parameters = Object.entries(HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }))
  return Object.fromEntries(
    Object.entries(WEBHOOK_MESSAGES).map(([type, { description, schema }]) => [
      type,
      {
        post: {
          operationId: type.replace('.', '_'),
          tags: ['Webhooks'],
          summary: type,
          description: `${description} Signed according to Standard Webhooks.`,
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: describeSchema(schema, names),
                example: exampleOf(type as WebhookMessageType),
              },
            },
          },
          responses: {
            '2XX': { description: 'Accepted. Any other response is retried for 3 days.' },
            410: { description: 'The endpoint is gone. Deliveries stop.' },
          },
        },
      },
    ]),
  )
}
