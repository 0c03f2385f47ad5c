import { accountRoutes } from './accounts/account.routes.ts'
import { customerRoutes } from './erasure/customers.routes.ts'
import { engineRoutes } from './generations/engines/engines.routes.ts'
import { generationRoutes } from './generations/generations.routes.ts'
import { tryOnRoutes } from './generations/try-on.routes.ts'
import { openApiRoutes } from './http/openapi/openapi.routes.ts'
import { imageRoutes } from './photos/images.routes.ts'
import { productBatchRoutes } from './products/product-batches.routes.ts'
import { productRoutes } from './products/products.routes.ts'
import { analyticsRoutes } from './storefront/events/analytics.routes.ts'
import { eventRoutes } from './storefront/events/events.routes.ts'
import { downloadRoutes } from './storefront/fitting-room/download.routes.ts'
import { fittingRoomRoutes } from './storefront/fitting-room/fitting-room.routes.ts'
import { shopperGenerationRoutes } from './storefront/fitting-room/generation.routes.ts'
import { shopperUploadRoutes } from './storefront/fitting-room/uploads.routes.ts'
import { emailRoutes } from './storefront/leads/email.routes.ts'
import { shareRoutes } from './storefront/share/share.routes.ts'
import { sharePageRoutes } from './storefront/share/share-page.routes.ts'
import { shopifyWebhookRoutes } from './storefront/shop-platforms/shopify-webhooks.routes.ts'
import { checkCreditsRoutes } from './storefront/shops/check-credits.routes.ts'
import { visitorRoutes } from './storefront/visitors/visitor.routes.ts'
import { appealPageRoutes } from './trust/appeals/appeal.routes.ts'
import { appealRoutes } from './trust/appeals/appeals.routes.ts'
import { consentRoutes } from './trust/consent/consent.routes.ts'
import { privacyRoutes } from './trust/consent/privacy.routes.ts'
import { verifyRoutes } from './trust/provenance/verify.routes.ts'
import { receiptKeyRoutes } from './trust/receipts/receipt-keys.routes.ts'
import { removalRoutes } from './trust/removals/removal.routes.ts'
import { webhookRoutes } from './webhooks/webhooks.routes.ts'

/** Routes for servers of accounts, in the order of the document. */
export const SERVER_ROUTES = [
  ...tryOnRoutes,
  ...generationRoutes,
  ...appealRoutes,
  ...imageRoutes,
  ...productRoutes,
  ...productBatchRoutes,
  ...accountRoutes,
  ...engineRoutes,
  ...customerRoutes,
  ...webhookRoutes,
  ...analyticsRoutes,
  ...openApiRoutes,
]

/** Routes for shops, their shoppers and their platforms. */
export const STOREFRONT_ROUTES = [
  ...visitorRoutes,
  ...consentRoutes,
  ...shopperUploadRoutes,
  ...fittingRoomRoutes,
  ...shopperGenerationRoutes,
  ...checkCreditsRoutes,
  ...shareRoutes,
  ...sharePageRoutes,
  ...downloadRoutes,
  ...verifyRoutes,
  ...privacyRoutes,
  ...appealPageRoutes,
  ...removalRoutes,
  ...receiptKeyRoutes,
  ...emailRoutes,
  ...eventRoutes,
  ...shopifyWebhookRoutes,
]

/** Every operation of the OpenAPI document. */
export const ROUTES = [...SERVER_ROUTES, ...STOREFRONT_ROUTES]
