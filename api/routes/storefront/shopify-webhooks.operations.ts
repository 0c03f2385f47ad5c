import type { Operation } from '../../openapi/operation.ts'
import { Webhook, WebhookAnswer } from './shopify-webhooks.schema.ts'

export const shopifyWebhookOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/webhooks/shopify',
    id: 'receiveShopifyWebhook',
    tag: 'Webhooks',
    summary: 'Hear what happened in a shop on Shopify',
    description: `Proved by \`X-Shopify-Hmac-Sha256\`, made of the body with a secret of the shop that \`X-Shopify-Shop-Domain\`
names. By \`X-Shopify-Topic\`:

- \`orders/create\` is kept as the event \`order:created\`, once for each \`X-Shopify-Webhook-Id\`. A cart attribute
  \`_drape_anonymous_id\` identifies the browser that it came from.
- \`customers/data_request\` writes down what is held of the customer, for the operator to pass on (\`drape shop requests\`).
- \`customers/redact\` erases the customer: pictures, e-mail address, and their name on events.
- \`shop/redact\` ends the shop and erases all of its shoppers.

Others are ignored. What takes long goes on after a 503; Shopify asks again and hears of its end.`,
    access: 'open',
    body: { json: Webhook },
    answers: { 200: { description: 'Done, or not for us.', schema: WebhookAnswer } },
    errors: ['WEBHOOK_SIGNATURE_INVALID', 'VALIDATION_FAILED', 'SERVICE_UNAVAILABLE'],
  },
]
