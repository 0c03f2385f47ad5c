import { WEBHOOK_MESSAGES, type WebhookMessageType } from '../webhooks/messages.schema.ts'
import { testDataOf } from '../webhooks/test-events.ts'
import { describeSchema, type JsonSchema, type Names } from './json-schema.ts'

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Unique id of the message. Retries have the same id: use it to ignore duplicates.',
  'webhook-timestamp': 'Of this attempt, in seconds since 1970.',
  'webhook-signature':
    '`v1,` and the HMAC-SHA256 in base64 of id, timestamp and body, joined by full stops; one for each live secret, with spaces between.',
}

/** The message that `POST /tryon/v1/webhooks/events` sends. */
function exampleOf(type: WebhookMessageType): JsonSchema {
  return { type, timestamp: '2026-05-12T09:30:09.412Z', data: { accountId: 'acc_1', ...testDataOf(type, '1') } }
}

/** The webhooks that the service sends, as the `webhooks` of OpenAPI 3.1. */
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
          description: `${description} Signed as Standard Webhooks has it.`,
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
            '2XX': { description: 'Accepted. Any other response is retried for three days.' },
            410: { description: 'The endpoint is gone. Deliveries stop.' },
          },
        },
      },
    ]),
  )
}
