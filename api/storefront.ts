import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Routes } from './app.ts'
import { createBudget } from './budget.ts'
import { type ApiConfig, isDevelopment } from './config.ts'
import { createAnalyticsProvider } from './events/analytics-provider.ts'
import { startForwarder } from './events/forwarder.ts'
import { startHousekeeping } from './events/housekeeping.ts'
import type { GenerationWatch } from './generation-watch.ts'
import { createKeyLookup } from './key-lookup.ts'
import { createLeadKeeper } from './lead-keeper.ts'
import { parseBody } from './middleware/body.ts'
import { idempotency } from './middleware/idempotency.ts'
import { publishableKeyOr } from './middleware/publishable-key.ts'
import { shopProxy } from './middleware/shop-proxy.ts'
import { storefrontLimit } from './middleware/storefront-limit.ts'
import type { PersonPhotos } from './person-photos.ts'
import { createRepeatedAnswers } from './repeated-answers.ts'
import { createGenerationView } from './routes/server/generations.view.ts'
import { checkCreditsRoutes } from './routes/storefront/check-credits.ts'
import { downloadRoutes } from './routes/storefront/download.ts'
import { emailRoutes } from './routes/storefront/email.ts'
import { eventRoutes } from './routes/storefront/events.ts'
import { fittingRoomRoutes } from './routes/storefront/fitting-room.ts'
import { shopperGenerationRoutes } from './routes/storefront/generation.ts'
import { shareRoutes } from './routes/storefront/share.ts'
import { sharePageRoutes } from './routes/storefront/share-page.ts'
import { shopifyWebhookRoutes } from './routes/storefront/shopify-webhooks.ts'
import { shopperUploadRoutes } from './routes/storefront/uploads.ts'
import { createDatabase, type Database, pingDatabase } from './shared/database.ts'
import type { Lifecycle } from './shared/lifecycle.ts'
import type { Log } from './shared/log.ts'
import type { Metrics } from './shared/metrics.ts'
import type { Redis } from './shared/redis.ts'
import type { ObjectStorage } from './shared/storage/object.ts'
import type { Generations } from './shared/stores/generations.ts'
import { createIdempotencyKeys } from './shared/stores/idempotency.ts'
import type { Images } from './shared/stores/images.ts'
import type { Objects } from './shared/stores/objects.ts'
import { createProxyNonces } from './shared/stores/proxy-nonces.ts'
import type { Customer } from './shared/stores/retention.ts'
import { createShopPlatforms } from './shop-platforms/shop-platforms.ts'
import { hashAddress, shopperId } from './shopper.ts'
import type { AppContext } from './state.ts'
import type { Acceptance } from './stores/acceptance.ts'
import type { Accounts } from './stores/accounts.ts'
import { createEventOutbox } from './stores/event-outbox.ts'
import { createEvents, type Events } from './stores/events.ts'
import { createFittings } from './stores/fittings.ts'
import { createLeads } from './stores/leads.ts'
import { createShares } from './stores/shares.ts'
import { createShopCredits } from './stores/shop-credits.ts'
import { createShopPrivacy } from './stores/shop-privacy.ts'
import { createShops } from './stores/shops.ts'
import { createUploads } from './stores/uploads.ts'
import { within } from './time-limit.ts'
import { createUploadFolders } from './upload-folders.ts'

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
  readonly accounts: Accounts
  readonly generations: Generations
  readonly watch: GenerationWatch
  readonly personPhotos: PersonPhotos
  /** False when the generation was accepted before. */
  readonly accept: (call: Acceptance) => Promise<boolean>
  readonly erase: (customer: Customer) => Promise<void>
  /** Tells the relay that there is work. */
  readonly nudge: () => void
}

export interface Storefront {
  readonly routes: readonly Routes[]
  /** Answers that are repeated come before everything else. */
  before(listener: RequestListener): RequestListener
}

/** What shops and their visitors talk to, built from the parts that the server API has too. */
export function createStorefront(parts: StorefrontParts): Storefront {
  const { config, log, metrics, lifecycle, database, redis, storage, objects } = parts
  const shops = createShops(database)
  const nonces = createProxyNonces(database)
  const proof = { development: isDevelopment(config), signingSecret: config.SIGNING_SECRET }
  const fromShop = shopProxy({ shops, nonces, ...proof })
  const perMinute = (name: string, points: number) => createBudget({ redis, name, points, seconds: 60 })
  const uploads = (name: string) => createBudget({ redis, name, points: 10, seconds: 300 })
  const platformOf = createShopPlatforms({ leads: createLeads(database) })
  const leads = createLeadKeeper({ platformOf, log, metrics })
  lifecycle.onStop('leads', () => leads.stop())
  const events = startEvents(parts)
  const eventProxy = shopProxy({
    ...proof,
    shops: { ...shops, find: (domain) => within(LOOKUP_MS, shops.find(domain)) },
    nonces: { ...nonces, use: (nonce) => within(LOOKUP_MS, nonces.use(nonce)) },
  })
  const shares = createShares(database)
  const sharing = { shares, storage, shareUrl: config.SHARE_URL, serviceName: config.SERVICE_NAME }
  const repeatedAnswers = createRepeatedAnswers({ metrics })

  const routes = [
    shopperGenerationRoutes({
      guards: [fromShop],
      ...parts,
      // Shoppers are not told of their place in the line.
      present: createGenerationView({ storage, estimateWait: async () => null }),
    }),
    checkCreditsRoutes({
      guards: [fromShop],
      findAllowed: createShopCredits(database).find,
      keep: repeatedAnswers.keep,
    }),
    shopperUploadRoutes({
      guards: [fromShop],
      limits: [storefrontLimit(uploads('upload'), shopperOf)],
      linkLimits: [storefrontLimit(uploads('upload-link'), ({ params }) => params.uploadKey)],
      parsers: [parseBody()],
      objects,
      uploads: createUploads(database),
      images: parts.images,
      photos: parts.personPhotos,
      storage,
      withFolder: createUploadFolders(join(tmpdir(), 'drape-storefront-uploads')),
      publicUrl: config.PUBLIC_URL,
      signingSecret: config.SIGNING_SECRET,
    }),
    fittingRoomRoutes({
      guards: [fromShop, parseBody(), idempotency({ keys: createIdempotencyKeys(database) })],
      generations: parts.generations,
      fittings: createFittings(database),
      findProduct: (shop, product, variant) => platformOf(shop).findProduct(shop, product, variant),
      accept: parts.accept,
      nudge: parts.nudge,
      defaultEngine: config.DEFAULT_ENGINE,
    }),
    eventRoutes({
      keyOrProxy: publishableKeyOr(eventProxy, { findAccount: findByPublishableKey(parts.accounts), ...proof }),
      proxy: eventProxy,
      events,
      metrics,
    }),
    emailRoutes({ proxy: fromShop, budget: perMinute('collect-email', 10), leads }),
    shopifyWebhookRoutes({ shops, events, privacy: createShopPrivacy(database), erase: parts.erase }),
    shareRoutes({
      guards: [fromShop, storefrontLimit(perMinute('share', 20), shopOf), parseBody()],
      ...sharing,
    }),
    sharePageRoutes({
      guards: [storefrontLimit(perMinute('share-page', 60), ({ ip }) => hashAddress(ip, config.SIGNING_SECRET))],
      ...sharing,
    }),
    downloadRoutes({
      guards: [fromShop, storefrontLimit(perMinute('download', 100), shopOf)],
      objects,
      storage,
      serviceName: config.SERVICE_NAME,
    }),
  ]
  return { routes, before: repeatedAnswers.before }
}

/** Events are never in a shopper's way: who sends them is found in this time, or they are not taken. */
const LOOKUP_MS = 500

function findByPublishableKey(accounts: Accounts) {
  const findByKey: Accounts['findByKey'] = (key, kind) => within(LOOKUP_MS, accounts.findByKey(key, kind))
  return createKeyLookup({ accounts: { findByKey }, kind: 'publishable' })
}

function shopOf({ state }: AppContext): string {
  return state.shop?.id ?? ''
}

function shopperOf({ state }: AppContext): string {
  return shopperId(shopOf({ state } as AppContext), state.shopper)
}

/** Where events are written, with what looks after the written ones and passes them on. */
function startEvents({ config, database, lifecycle, log, metrics }: StorefrontParts): Events {
  // Connections of its own: however many events come, and however long they take, try-ons do not wait for them.
  const eventDatabase = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL, statementSeconds: 1 })
  lifecycle.onStop('event database', () => eventDatabase.end())
  // Opened before the first shopper waits for it.
  pingDatabase(eventDatabase).catch(() => {})
  const outbox = createEventOutbox(database)
  const housekeeping = startHousekeeping(
    { events: createEvents(database), outbox, retentionDays: config.EVENT_RETENTION_DAYS },
    log,
  )
  lifecycle.onStop('event housekeeping', () => housekeeping.stop())
  const isForwarding = config.ANALYTICS_URL !== ''
  if (isForwarding) {
    const tell = createAnalyticsProvider({ url: config.ANALYTICS_URL, key: config.ANALYTICS_KEY })
    const forwarder = startForwarder({ outbox, tell, log, metrics })
    lifecycle.onStop('event forwarder', () => forwarder.stop())
  }
  return createEvents(eventDatabase, { forward: isForwarding })
}
