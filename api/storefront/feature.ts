import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKeys } from '../accounts/api-keys.store.ts'
import { createKeyLookup } from '../accounts/key-lookup.ts'
import { createConsents } from '../consents/consents.store.ts'
import type { Core, Feature } from '../feature.ts'
import { createGenerationView } from '../generations/generations.view.ts'
import { createRepeatedAnswers } from '../http/answers/repeated-answers.ts'
import { createUploadFolders } from '../http/bodies/upload-folders.ts'
import { createAccountLimiter } from '../http/limits/account-limiter.ts'
import { createIncompleteUploads } from '../http/limits/incomplete-uploads.ts'
import { within } from '../http/limits/time-limit.ts'
import { idempotency } from '../http/middleware/idempotency.ts'
import { mount } from '../http/mount.ts'
import { createDatabase, pingDatabase } from '../shared/database/database.ts'
import { createIdempotencyKeys } from '../shared/database/idempotency.store.ts'
import { createNamedRule } from '../shared/network/addresses.ts'
import { watchAge } from '../shared/telemetry/measuring.ts'
import type { Requester } from '../shops/requester.ts'
import { shopProxy } from '../shops/shop-proxy.ts'
import { createVisitorAddresses } from '../shops/visitor-addresses.store.ts'
import { analyticsRoutes } from './events/analytics.routes.ts'
import { createAnalyticsProvider } from './events/analytics-provider.ts'
import { createEventAnalytics } from './events/event-analytics.store.ts'
import { eventLimit } from './events/event-limit.ts'
import { createEventOutbox } from './events/event-outbox.store.ts'
import { createEventStore, eventRoutes } from './events/events.routes.ts'
import { createEvents, type Events } from './events/events.store.ts'
import { startForwarder } from './events/forwarder.ts'
import { startHousekeeping } from './events/housekeeping.ts'
import { createUploadCompletion } from './fitting-room/complete-upload.ts'
import { downloadRoutes } from './fitting-room/download.routes.ts'
import { fittingRoomRoutes } from './fitting-room/fitting-room.routes.ts'
import { createFittings } from './fitting-room/fittings.store.ts'
import { shopperGenerationRoutes } from './fitting-room/generation.routes.ts'
import { shopperUploadRoutes } from './fitting-room/uploads.routes.ts'
import { createUploads } from './fitting-room/uploads.store.ts'
import { emailRoutes } from './leads/email.routes.ts'
import { startLeadDelivery } from './leads/lead-delivery.ts'
import { createLeadOutbox } from './leads/lead-outbox.store.ts'
import { createLeads, type Leads } from './leads/leads.store.ts'
import { shareRoutes } from './share/share.routes.ts'
import { sharePageRoutes } from './share/share-page.routes.ts'
import { createShares } from './share/shares.store.ts'
import { createShopPlatforms, type ShopPlatforms } from './shop-platforms/shop-platforms.ts'
import { createShopTokens } from './shop-platforms/shop-tokens.store.ts'
import { createShopifyRequest } from './shop-platforms/shopify-request.ts'
import { createTimedAnswers, shopifyWebhookRoutes } from './shop-platforms/shopify-webhooks.routes.ts'
import { startTokenRenewal } from './shop-platforms/token-renewal.ts'
import { createSiteVerify } from './shops/captcha.ts'
import { type CheckCreditsParts, cacheAllowed, checkCreditsRoutes } from './shops/check-credits.routes.ts'
import { createProductFinder } from './shops/product-finder.ts'
import { createShopCredits } from './shops/shop-credits.store.ts'
import { createShopPrivacy } from './shops/shop-privacy.store.ts'
import { startShopperRetention } from './shops/shopper-retention.ts'
import { publishableKeyOr } from './visitors/publishable-key.ts'
import { visitorRoutes } from './visitors/visitor.routes.ts'

const SHOP_ROUTES = [
  ...visitorRoutes,
  ...shopperUploadRoutes,
  ...fittingRoomRoutes,
  ...shopperGenerationRoutes,
  ...checkCreditsRoutes,
  ...shareRoutes,
  ...sharePageRoutes,
  ...downloadRoutes,
  ...emailRoutes,
  ...eventRoutes,
  ...shopifyWebhookRoutes,
]

/** Everything that pages of shops, their visitors and their platforms call. Cached responses are served before all middleware. */
export const storefront: Feature = {
  name: 'storefront',
  operations: [...analyticsRoutes, ...SHOP_ROUTES],
  start: (core) => {
    const repeatedAnswers = createRepeatedAnswers({ metrics: core.metrics })
    return {
      before: repeatedAnswers.before,
      routes: [
        mount(analyticsRoutes, { ...core, ...createAnalytics(core) }),
        mount(SHOP_ROUTES, { ...createParts(core), keepAnswer: repeatedAnswers.keep }),
      ],
    }
  },
}

function createAnalytics({ config, secrets, lifecycle }: Core) {
  // Separate connections: other calls never wait for the long statements of analytics.
  const database = createDatabase(config.DATABASE_URL, { poolSize: 2, secrets })
  lifecycle.onStop('analytics database', () => database.end())
  return {
    analytics: createEventAnalytics(database),
    analyticsLimiter: createAccountLimiter({
      maxConcurrent: 1,
      maxWaiting: 4,
      maxWaitMs: 20_000,
      message: 'Another analytics query of this account is running. Retry after Retry-After seconds.',
    }),
  }
}

function createParts(core: Core) {
  const { config, log, metrics, lifecycle, database, redis, storage, shops, nonces, proof, receiveBody, budgets } = core
  const leads = createLeads(database)
  const platformOf = startPlatforms(core, leads)
  const leadOutbox = createLeadOutbox(database)
  const leadDelivery = startLeadDelivery({ outbox: leadOutbox, shops, platformOf, log, metrics })
  lifecycle.onStop('lead delivery', () => leadDelivery.stop())
  const addresses = createVisitorAddresses(database)
  const retention = startShopperRetention({ leads, addresses, days: config.LEAD_RETENTION_DAYS, log })
  lifecycle.onStop('shopper retention', () => retention.stop())
  const events = startEvents(core)
  const eventProxy = shopProxy({
    ...proof,
    receiveBody,
    shops: { ...shops, find: (domain) => within(LOOKUP_MS, shops.find(domain)) },
    nonces: { ...nonces, use: (nonce) => within(LOOKUP_MS, nonces.use(nonce)) },
  })
  const uploads = createUploads(database)
  const consents = createConsents(database)
  const { images, personPhotos: photos } = core
  return {
    ...core,
    events,
    leadOutbox,
    shares: createShares(database),
    uploads,
    photos,
    idempotent: idempotency({ keys: createIdempotencyKeys(database) }),
    signingSecret: config.SIGNING_SECRET,
    serviceName: config.SERVICE_NAME,
    publicUrl: config.PUBLIC_URL,
    shareUrl: config.SHARE_URL,
    // Shoppers do not see their queue position.
    present: createGenerationView({ storage, estimateWait: async () => null, appealUrlOf: core.appealUrlOf }),
    isAllowed: cacheAllowed(createShopCredits(database).find),
    offersOutfits: findOutfits(core),
    captcha: createCaptcha(config),
    withFolder: createUploadFolders(join(tmpdir(), 'drape-storefront-uploads')),
    consents,
    assertFewIncomplete: createIncompleteUploads(uploads.sumBytes),
    completeUpload: createUploadCompletion({ uploads, images, photos, storage, consents }),
    fittings: createFittings(database),
    findProductFor: createProductFinder(platformOf, {
      findRefusal: (caller) => budgets.findRefusal('product-lookup', caller),
    }),
    findServerKey: createKeyLookup({ keys: createApiKeys(database), kind: 'secret', uses: core.uses }),
    fromKeyOrShop: publishableKeyOr(eventProxy, { findKey: findByPublishableKey(core), receiveBody, ...proof }),
    eventsFromShop: eventProxy,
    limitEvents: eventLimit({ redis, limits: config }),
    storeEvents: createEventStore({ events, metrics }),
    privacy: createShopPrivacy(database),
    answerSoon: createTimedAnswers(),
  }
}

function startPlatforms(core: Core, leads: Leads): ShopPlatforms {
  const { config, database, shops, log, lifecycle } = core
  const request = createShopifyRequest({ isPlainAllowed: createNamedRule(config.FETCH_ALLOW_CIDRS) })
  const tokens = createShopTokens(database)
  const renewal = startTokenRenewal({ tokens, shops, request, log })
  lifecycle.onStop('renewal of tokens', () => renewal.stop())
  watchAge(
    {
      name: 'drape_shop_tokens_refused_seconds',
      help: 'Seconds since the platform of an active shop has refused its token; 0 if none does',
    },
    tokens.measureRefused,
    core,
  )
  return createShopPlatforms({ leads, request, tokens })
}

/** Without an answer in time, shops offer no outfits. */
function findOutfits({ hasFeature, engines, defaultEngineOf }: Core): CheckCreditsParts['offersOutfits'] {
  if (!hasFeature('outfits')) return async () => false
  const find = async (of: Requester) => (await engines.find(await defaultEngineOf(of)))?.outfits === true
  return (of) => within(LOOKUP_MS, find(of)).catch(() => false)
}

function createCaptcha({ CAPTCHA_VERIFY_URL: url, CAPTCHA_SECRET: secret }: Core['config']) {
  return url === '' ? null : createSiteVerify({ url, secret })
}

/** Analytics must not delay shoppers: events are dropped when their sender is not found within this time. */
const LOOKUP_MS = 500

function findByPublishableKey({ database, uses }: Core) {
  const keys = createApiKeys(database)
  const find: typeof keys.find = (key, kind) => within(LOOKUP_MS, keys.find(key, kind))
  return createKeyLookup({ keys: { find }, kind: 'publishable', uses })
}

/** Creates the store of events, its housekeeping and its forwarding. */
function startEvents({ config, database, lifecycle, log, metrics }: Core): Events {
  // Separate connections, so that try-ons never wait for events.
  const eventDatabase = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL, statementSeconds: 1 })
  lifecycle.onStop('event database', () => eventDatabase.end())
  // Connect before the first shopper waits.
  pingDatabase(eventDatabase).catch(() => {})
  const outbox = createEventOutbox(database)
  const housekeeping = startHousekeeping(
    { events: createEvents(database), outbox, retentionDays: config.EVENT_RETENTION_DAYS },
    log,
  )
  lifecycle.onStop('event housekeeping', () => housekeeping.stop())
  const isForwarding = config.ANALYTICS_URL !== ''
  if (isForwarding) {
    const send = createAnalyticsProvider({ url: config.ANALYTICS_URL, key: config.ANALYTICS_KEY })
    const forwarder = startForwarder({ outbox, send, log, metrics })
    lifecycle.onStop('event forwarder', () => forwarder.stop())
  }
  return createEvents(eventDatabase, { forward: isForwarding })
}
