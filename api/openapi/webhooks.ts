import { WEBHOOK_MESSAGES } from '../webhooks/messages.schema.ts'
import { describeSchema, type JsonSchema, type Names } from './json-schema.ts'

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'The same however often it is told: what was done for it once need not be done again.',
  'webhook-timestamp': 'Of this attempt, in seconds since 1970.',
  'webhook-signature':
    '`v1,` and the HMAC-SHA256 in base64 of id, timestamp and body, joined by full stops; one for each live secret, with spaces between.',
}

/** What the service tells others, as the `webhooks` of OpenAPI 3.1. */
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
          requestBody: { required: true, content: { 'application/json': { schema: describeSchema(schema, names) } } },
          responses: {
            '2XX': { description: 'Taken. Anything else is told again, over three days.' },
            410: { description: 'Nothing is to be told any more.' },
          },
        },
      },
    ]),
  )
}
