import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Accounts } from '../accounts/accounts.store.ts'
import { createApiKeys } from '../accounts/api-keys.store.ts'
import { createKeyLookup } from '../accounts/key-lookup.ts'
import type { KeyUses } from '../accounts/key-uses.ts'
import { type ApiConfig, isDevelopment } from '../config.ts'
import { createConsents } from '../consents/consents.store.ts'
import type { Acceptance } from '../generations/acceptance.store.ts'
import type { EngineChoice } from '../generations/engines/choice.ts'
import type { EngineDirectory } from '../generations/engines/directory.ts'
import type { AppealUrlOf } from '../generations/generations.view.ts'
import { createGenerationView } from '../generations/generations.view.ts'
import type { GenerationWatch } from '../generations/watch.ts'
import { createRepeatedAnswers } from '../http/answers/repeated-answers.ts'
import type { DiskBudget } from '../http/bodies/disk-budget.ts'
import { createBodyReceiver } from '../http/bodies/signed-body.ts'
import { createUploadFolders } from '../http/bodies/upload-folders.ts'
import { createIncompleteUploads } from '../http/limits/incomplete-uploads.ts'
import { within } from '../http/limits/time-limit.ts'
import { type BodyOptions, parseBody } from '../http/middleware/body.ts'
import { idempotency } from '../http/middleware/idempotency.ts'
import type { PersonPhotos } from '../photos/person-photos.ts'
import type { ReserveStorage } from '../photos/storage-quota.ts'
import { createProducts } from '../products/products.store.ts'
import { createDatabase, type Database, pingDatabase } from '../shared/database/database.ts'
import { createIdempotencyKeys } from '../shared/database/idempotency.store.ts'
import { createProxyNonces } from '../shared/database/proxy-nonces.store.ts'
import type { Generations } from '../shared/generations/generations.store.ts'
import type { Images } from '../shared/image/images.store.ts'
import { createNamedRule, siteOf } from '../shared/network/addresses.ts'
import type { Lifecycle } from '../shared/process/lifecycle.ts'
import { createProvenanceKeys } from '../shared/provenance/provenance-keys.store.ts'
import type { Redis } from '../shared/queue/redis.ts'
import type { Customer } from '../shared/retention/customer.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/storage/objects.store.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import { createRefusedRequests } from '../shops/refused-requests.ts'
import { shopProxy } from '../shops/shop-proxy.ts'
import { createShops } from '../shops/shops.store.ts'
import { createBudgets } from '../shops/storefront-limit.ts'
import { createVisitorAddresses } from '../shops/visitor-addresses.store.ts'
import { createSafetyReviews } from '../trust/appeals/safety-reviews.store.ts'
import { createReceiptKeys } from '../trust/receipts/receipt-keys.store.ts'
import { createRemovals } from '../trust/removals/removals.store.ts'
import { createAnalyticsProvider } from './events/analytics-provider.ts'
import { eventLimit } from './events/event-limit.ts'
import { createEventOutbox } from './events/event-outbox.store.ts'
import { createEventStore } from './events/events.routes.ts'
import { createEvents, type Events } from './events/events.store.ts'
import { startForwarder } from './events/forwarder.ts'
import { startHousekeeping } from './events/housekeeping.ts'
import { createUploadCompletion } from './fitting-room/complete-upload.ts'
import { createFittings } from './fitting-room/fittings.store.ts'
import { createUploads } from './fitting-room/uploads.store.ts'
import { startLeadDelivery } from './leads/lead-delivery.ts'
import { createLeadOutbox } from './leads/lead-outbox.store.ts'
import { createLeads } from './leads/leads.store.ts'
import { createShares } from './share/shares.store.ts'
import { createShopPlatforms } from './shop-platforms/shop-platforms.ts'
import { createTimedAnswers } from './shop-platforms/shopify-webhooks.routes.ts'
import { createSiteVerify } from './shops/captcha.ts'
import { cacheAllowed } from './shops/check-credits.routes.ts'
import { createProductFinder } from './shops/product-finder.ts'
import { createShopCredits } from './shops/shop-credits.store.ts'
import { createShopPrivacy } from './shops/shop-privacy.store.ts'
import { startShopperRetention } from './shops/shopper-retention.ts'
import { publishableKeyOr } from './visitors/publishable-key.ts'

const MB = 1024 * 1024
/** A text of 1,000 characters, and no file. */
const APPEAL_FORM = { maxJsonBytes: 16 * 1024, maxFiles: 0 }

export interface StorefrontParts {
  readonly config: ApiConfig
  readonly log: Log
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
  readonly database: Database
  readonly redis: Redis
  readonly storage: ObjectStorage
  readonly images: Images
  readonly objects: Objects
  readonly uses: KeyUses
  readonly generations: Generations
  readonly watch: GenerationWatch
  readonly personPhotos: PersonPhotos
  readonly reserveStorage: ReserveStorage
  /** Disk budget for files of shoppers, by network address. */
  readonly shopperDisk: DiskBudget
  /** False when the generation was accepted before. */
  readonly accept: (call: Acceptance) => Promise<boolean>
  readonly erase: (customer: Customer) => Promise<unknown>
  readonly chooseEngine: EngineChoice['choose']
  readonly defaultEngineOf: EngineChoice['defaultOf']
  readonly engines: Pick<EngineDirectory, 'find'>
  readonly accounts: Pick<Accounts, 'find'>
  /** Notifies the relay of new work. */
  readonly wake: () => void
  readonly appealUrlOf: AppealUrlOf
}

/**
 * Creates the routes of shops and their shoppers from the components of the server API. Cached responses are served
 * `before` all middleware.
 */
export function createStorefront(parts: StorefrontParts) {
  const { config, log, metrics, lifecycle, database, redis, storage } = parts
  const shops = createShops(database)
  const nonces = createProxyNonces(database)
  const refused = createRefusedRequests({ redis, shops })
  const proof = {
    refused,
    development: isDevelopment(config),
    signingSecret: config.SIGNING_SECRET,
    proxyHops: { own: config.PROXY_HOPS, shopify: config.SHOP_PROXY_HOPS },
  }
  const maxJsonBytes = config.MAX_JSON_MB * MB
  const receiveBody = createReceiver(config)
  const fromShop = shopProxy({ shops, nonces, receiveBody, ...proof })
  const onLocal = () => metrics.localCounts.inc()
  const budgets = createBudgets({ redis, signingSecret: config.SIGNING_SECRET, onLocal })
  const leads = createLeads(database)
  const platformOf = createShopPlatforms({ leads, isPlainAllowed: createNamedRule(config.FETCH_ALLOW_CIDRS) })
  const leadOutbox = createLeadOutbox(database)
  const leadDelivery = startLeadDelivery({ outbox: leadOutbox, shops, platformOf, log, metrics })
  lifecycle.onStop('lead delivery', () => leadDelivery.stop())
  const addresses = createVisitorAddresses(database)
  const retention = startShopperRetention({ leads, addresses, days: config.LEAD_RETENTION_DAYS, log })
  lifecycle.onStop('shopper retention', () => retention.stop())
  const events = startEvents(parts)
  const eventProxy = shopProxy({
    ...proof,
    receiveBody,
    shops: { ...shops, find: (domain) => within(LOOKUP_MS, shops.find(domain)) },
    nonces: { ...nonces, use: (nonce) => within(LOOKUP_MS, nonces.use(nonce)) },
  })
  const shares = createShares(database)
  const parse = parseBody({
    maxJsonBytes,
    disk: parts.shopperDisk,
    ownerOf: ({ state }) => state.shopper.addressHash,
    maxFiles: 1,
  })
  // Apart from images of shoppers; and a few slow forms of one network must not shut out those of others.
  const parseOf = (route: string, limits: BodyOptions = { maxJsonBytes, maxFiles: 1 }) =>
    parseBody({ ...limits, disk: parts.shopperDisk, ownerOf: ({ ip }) => `${route}:${siteOf(ip)}` })
  const repeatedAnswers = createRepeatedAnswers({ metrics })
  const uploads = createUploads(database)
  const consents = createConsents(database)
  const { images, personPhotos: photos } = parts
  return {
    before: repeatedAnswers.before,
    parts: {
      ...parts,
      fromShop,
      parse,
      budgets,
      shops,
      events,
      receiveBody,
      refused,
      leadOutbox,
      shares,
      uploads,
      photos,
      ...{
        parseVerified: parseOf('verify'),
        parseRemoval: parseOf('removal'),
        parseAppeal: parseOf('appeal', APPEAL_FORM),
      },
      idempotent: idempotency({ keys: createIdempotencyKeys(database) }),
      signingSecret: config.SIGNING_SECRET,
      serviceName: config.SERVICE_NAME,
      installation: describeInstallation(config),
      publicUrl: config.PUBLIC_URL,
      shareUrl: config.SHARE_URL,
      // Shoppers do not see their queue position.
      present: createGenerationView({ storage, estimateWait: async () => null, appealUrlOf: parts.appealUrlOf }),
      isAllowed: cacheAllowed(createShopCredits(database).find),
      keepAnswer: repeatedAnswers.keep,
      captcha: createCaptcha(config),
      withFolder: createUploadFolders(join(tmpdir(), 'drape-storefront-uploads')),
      consents,
      assertFewIncomplete: createIncompleteUploads(uploads.sumBytes),
      completeUpload: createUploadCompletion({ uploads, images, photos, storage, consents }),
      fittings: createFittings(database),
      findProductFor: createProductFinder(platformOf, {
        findRefusal: (caller) => budgets.findRefusal('product-lookup', caller),
      }),
      findProduct: createProducts(database).find,
      findServerKey: createKeyLookup({ keys: createApiKeys(database), kind: 'secret', uses: parts.uses }),
      attemptsPerTryOn: config.ATTEMPTS_PER_TRY_ON,
      fromKeyOrShop: publishableKeyOr(eventProxy, { findKey: findByPublishableKey(parts), receiveBody, ...proof }),
      eventsFromShop: eventProxy,
      limitEvents: eventLimit({ redis, limits: config }),
      storeEvents: createEventStore({ events, metrics }),
      privacy: createShopPrivacy(database),
      provenanceKeys: createProvenanceKeys(database),
      receiptKeys: createReceiptKeys(database),
      removals: createRemovals(database),
      reviews: createSafetyReviews(database),
      answerSoon: createTimedAnswers(),
    },
  }
}

/** Facts about the installation for the privacy pages of all shops. */
function describeInstallation(config: StorefrontParts['config']) {
  return {
    processor: config.PRIVACY_PROCESSOR || config.SERVICE_NAME,
    leadDays: config.LEAD_RETENTION_DAYS,
    eventDays: config.EVENT_RETENTION_DAYS,
    analyticsUrl: config.ANALYTICS_URL,
  }
}

function createReceiver(config: StorefrontParts['config']) {
  return createBodyReceiver({
    maxBytes: config.MAX_JSON_MB * MB,
    maxWebhookBytes: config.MAX_WEBHOOK_MB * MB,
    maxMs: config.BODY_SECONDS * 1000,
    minBytesPerSecond: config.BODY_MIN_KB_PER_SECOND * 1024,
    strangers: (config.UNPROVEN_BODIES_MB * MB) / 2,
    trusted: (config.UNPROVEN_BODIES_MB * MB) / 2,
    address: config.UNPROVEN_ADDRESS_MB * MB,
    shop: config.UNPROVEN_SHOP_MB * MB,
  })
}

function createCaptcha({ CAPTCHA_VERIFY_URL: url, CAPTCHA_SECRET: secret }: StorefrontParts['config']) {
  return url === '' ? null : createSiteVerify({ url, secret })
}

/** Analytics must not delay shoppers: events are dropped when their sender is not found within this time. */
const LOOKUP_MS = 500

function findByPublishableKey({ database, uses }: StorefrontParts) {
  const keys = createApiKeys(database)
  const find: typeof keys.find = (key, kind) => within(LOOKUP_MS, keys.find(key, kind))
  return createKeyLookup({ keys: { find }, kind: 'publishable', uses })
}

/** Creates the store of events, its housekeeping and its forwarding. */
function startEvents({ config, database, lifecycle, log, metrics }: StorefrontParts): Events {
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
