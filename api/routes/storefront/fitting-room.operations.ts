import type { Operation } from '../../openapi/operation.ts'
import { EarlyJob, FittingRoomBody, FittingRoomJob, UnpaidJob } from './fitting-room.schema.ts'

const id = '$response.body#/jobId'

export const fittingRoomOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/public/fitting-room',
    id: 'enterFittingRoom',
    tag: 'Storefront',
    summary: 'Ask for a picture of a shopper wearing a product of the shop',
    description: `The product is looked up in the catalog of the account under the whole \`productId\`, then under the part after
its last slash; then on the shop's platform, from where it is kept in the catalog under the whole \`productId\` for 15 days after
its last use. A shopper may have 10 in an ISO week (UTC); failed ones are not counted,
but attempts are limited to three for each. The shopper is the customer whom the proxy
has signed, else the visitor of \`X-Service-Visitor-Token\`, else the browser of \`X-Service-Anonymous-Id\`, else the address. All who
are no customers share a budget of their address (30 in a day, UTC) and one of the shop (1,000 in a day); operators set both for each
shop. The photo must be one that the same shopper uploaded.`,
    access: 'shop',
    body: { json: FittingRoomBody },
    repeatable: true,
    answers: {
      200: {
        description: 'Accepted: one credit is reserved.',
        schema: FittingRoomJob,
        next: { getShopperGeneration: { id }, followShopperGeneration: { id } },
      },
      402: {
        description: `Blocked. \`QUOTA_EXCEEDED\`: the shop or its account has used up what it has of a month or at once, or has
no credits left. \`BILLING_NOT_ALLOWED\`: the plan of the shop does not allow generations now.`,
        schema: UnpaidJob,
      },
      429: {
        description:
          'Blocked. `RATE_LIMIT_EXCEEDED`: the week of the shopper, the day of the address or of the visitors of the shop, or the minute of product look-ups of the address is full; `Retry-After` counts the seconds to the next.',
        schema: EarlyJob,
      },
    },
    errors: [
      'VALIDATION_FAILED',
      'VISITOR_TOKEN_REQUIRED',
      'IMAGE_NOT_FOUND',
      'PRODUCT_NOT_FOUND',
      'MISSING_REQUIRED_CLASSIFICATION',
      'SERVICE_UNAVAILABLE',
    ],
  },
]
