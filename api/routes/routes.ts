import { accountRoutes } from './server/account.ts'
import { analyticsRoutes } from './server/analytics.ts'
import { appealRoutes } from './server/appeals.ts'
import { customerRoutes } from './server/customers.ts'
import { engineRoutes } from './server/engines.ts'
import { generationRoutes } from './server/generations.ts'
import { imageRoutes } from './server/images.ts'
import { openApiRoutes } from './server/openapi.ts'
import { productBatchRoutes } from './server/product-batches.ts'
import { productRoutes } from './server/products.ts'
import { tryOnRoutes } from './server/try-on.ts'
import { webhookRoutes } from './server/webhooks.ts'
import { appealPageRoutes } from './storefront/appeal.ts'
import { checkCreditsRoutes } from './storefront/check-credits.ts'
import { consentRoutes } from './storefront/consent.ts'
import { downloadRoutes } from './storefront/download.ts'
import { emailRoutes } from './storefront/email.ts'
import { eventRoutes } from './storefront/events.ts'
import { fittingRoomRoutes } from './storefront/fitting-room.ts'
import { shopperGenerationRoutes } from './storefront/generation.ts'
import { privacyRoutes } from './storefront/privacy.ts'
import { receiptKeyRoutes } from './storefront/receipt-keys.ts'
import { removalRoutes } from './storefront/removal.ts'
import { shareRoutes } from './storefront/share.ts'
import { sharePageRoutes } from './storefront/share-page.ts'
import { shopifyWebhookRoutes } from './storefront/shopify-webhooks.ts'
import { shopperUploadRoutes } from './storefront/uploads.ts'
import { verifyRoutes } from './storefront/verify.ts'
import { visitorRoutes } from './storefront/visitor.ts'

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
