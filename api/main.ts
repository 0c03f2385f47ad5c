import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from './app.ts'
import { createBacklogGauges } from './backlog-gauges.ts'
import { createBudget } from './budget.ts'
import { readApiConfig } from './config.ts'
import { createAnalyticsProvider } from './events/analytics-provider.ts'
import { startForwarder } from './events/forwarder.ts'
import { startHousekeeping } from './events/housekeeping.ts'
import { createGenerationWatch } from './generation-watch.ts'
import { createKeyLookup } from './key-lookup.ts'
import { createLeadKeeper } from './lead-keeper.ts'
import { apiKey } from './middleware/api-key.ts'
import { parseBody } from './middleware/body.ts'
import { idempotency } from './middleware/idempotency.ts'
import { publishableKeyOr } from './middleware/publishable-key.ts'
import { rateLimit } from './middleware/rate-limit.ts'
import { shopProxy } from './middleware/shop-proxy.ts'
import { storefrontLimit } from './middleware/storefront-limit.ts'
import { createDocument } from './openapi/document.ts'
import { createPersonPhotos } from './person-photos.ts'
import { createProductPhotos } from './product-photos.ts'
import { createOutbox } from './relay/outbox.ts'
import { createRelay } from './relay/relay.ts'
import { createRepeatedAnswers } from './repeated-answers.ts'
import { eraseCustomer } from './retention.ts'
import { docsRoutes } from './routes/docs/docs.ts'
import { objectRoutes } from './routes/objects.ts'
import { accountRoutes } from './routes/server/account.ts'
import { customerRoutes } from './routes/server/customers.ts'
import { generationRoutes } from './routes/server/generations.ts'
import { createGenerationView } from './routes/server/generations.view.ts'
import { imageRoutes } from './routes/server/images.ts'
import { openApiRoutes } from './routes/server/openapi.ts'
import { productRoutes } from './routes/server/products.ts'
import { tryOnRoutes } from './routes/server/try-on.ts'
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
import { createDatabase, pingDatabase } from './shared/database.ts'
import { createImageFetcher } from './shared/fetch-image.ts'
import { generationChannel, type PrepareJob, type TryOnJob } from './shared/generation.ts'
import { createLifecycle } from './shared/lifecycle.ts'
import { createLog } from './shared/log.ts'
import { measureFetch, measureStorage, watchConnections } from './shared/measured.ts'
import { createMetrics } from './shared/metrics.ts'
import { createProbeServer } from './shared/probes.ts'
import { createPublish, createSubscriptions } from './shared/pub-sub.ts'
import { createJobQueue, createRedis } from './shared/queue.ts'
import { createStorage } from './shared/storage/storage.ts'
import { createGenerations } from './shared/stores/generations.ts'
import { createImages } from './shared/stores/images.ts'
import { createObjects } from './shared/stores/objects.ts'
import { startTelemetry } from './shared/telemetry.ts'
import { createShopPlatforms } from './shop-platforms/shop-platforms.ts'
import { hashAddress, shopperId } from './shopper.ts'
import type { AppContext } from './state.ts'
import { type Acceptance, acceptGeneration } from './stores/acceptance.ts'
import { createAccounts } from './stores/accounts.ts'
import { createBacklog } from './stores/backlog.ts'
import { createEventOutbox } from './stores/event-outbox.ts'
import { createEvents } from './stores/events.ts'
import { createFittings } from './stores/fittings.ts'
import { createIdempotencyKeys } from './stores/idempotency.ts'
import { createLeads } from './stores/leads.ts'
import { createProducts } from './stores/products.ts'
import { createProxyNonces } from './stores/proxy-nonces.ts'
import { type Customer, createRetention } from './stores/retention.ts'
import { createShares } from './stores/shares.ts'
import { createShopCredits } from './stores/shop-credits.ts'
import { createShopPrivacy } from './stores/shop-privacy.ts'
import { createShops } from './stores/shops.ts'
import { createUploads } from './stores/uploads.ts'
import { createWaiting } from './stores/waiting.ts'
import { within } from './time-limit.ts'
import { createUploadFolders } from './upload-folders.ts'
import { createWaitEstimate } from './wait-estimate.ts'

const config = readApiConfig(process.env)
const log = createLog({ process: 'api', level: config.LOG_LEVEL })
const lifecycle = createLifecycle({ log, graceSeconds: 20 })
const metrics = createMetrics()
const telemetry = await startTelemetry({
  service: 'drape-api',
  env: process.env,
  onFault: (reason) => log.warn({ reason }, 'telemetry is not delivered'),
})
lifecycle.onStop('telemetry', () => telemetry.stop())

const database = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL })
lifecycle.onStop('database', () => database.end())
watchConnections(database, metrics)
const redis = createRedis(config.REDIS_URL, { role: 'producer', log })
lifecycle.onStop('redis', () => redis.close())
const subscriptions = createSubscriptions(() => createRedis(config.REDIS_URL, { role: 'subscriber', log }))
lifecycle.onStop('subscriptions', () => subscriptions.close())
const storage = measureStorage(
  createStorage(config.STORAGE_URL, { publicUrl: config.PUBLIC_URL, signingSecret: config.SIGNING_SECRET }),
  metrics,
)
lifecycle.onStop('storage', () => storage.close())
const tryOnQueue = createJobQueue<TryOnJob>({ redis, name: 'try-on' })
lifecycle.onStop('try-on queue', () => tryOnQueue.close())
const prepareQueue = createJobQueue<PrepareJob>({ redis, name: 'prepare', results: true })
lifecycle.onStop('prepare queue', () => prepareQueue.close())

const accounts = createAccounts(database)
const publish = createPublish(redis, log)
const generations = createGenerations(database, (change) => publish(generationChannel(change.id), change))
const objects = createObjects(database)
const fetchImage = measureFetch(
  createImageFetcher({
    allowCidrs: config.FETCH_ALLOW_CIDRS,
    allowPorts: config.FETCH_ALLOW_PORTS,
    failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED',
  }),
  metrics,
)
const images = createImages(database)
const personPhotos = createPersonPhotos({
  images,
  storage,
  fetchImage,
  prepareQueue,
  countWorkers: () => redis.countSlots('prepare'),
})
const productPhotos = createProductPhotos({ objects, storage })
const retention = createRetention(database)
const watch = createGenerationWatch({ generations, subscriptions })
const countSlots = () => redis.countSlots('try-on')
const present = createGenerationView({
  storage,
  estimateWait: createWaitEstimate({ waiting: createWaiting(database), countSlots }),
})

const relay = createRelay({
  outbox: createOutbox(database),
  generations,
  queue: tryOnQueue,
  countSlots,
  log,
  metrics,
})
lifecycle.onStop('relay', () => relay.stop())
subscriptions.subscribeAll(generationChannel(''), relay.noteMove)
const gauges = createBacklogGauges({ backlog: createBacklog(database), countSlots, metrics, log })
lifecycle.onStop('backlog gauges', () => gauges.stop())

const reading = [apiKey({ accounts }), rateLimit({ redis })]
const writing = [...reading, parseBody(), idempotency({ keys: createIdempotencyKeys(database) })]
const development = config.NODE_ENV === 'development'
const shops = createShops(database)
const perMinute = (name: string, points: number) => createBudget({ redis, name, points, seconds: 60 })
const nonces = createProxyNonces(database)
const proof = { development, signingSecret: config.SIGNING_SECRET }
const fromShop = shopProxy({ shops, nonces, ...proof })
const ofShop = ({ state }: AppContext) => state.shop?.id ?? ''
const ofShopper = ({ state }: AppContext) => shopperId(state.shop?.id ?? '', state.shopper)
const uploads = (name: string) => createBudget({ redis, name, points: 10, seconds: 300 })
const accept = async (call: Acceptance) => {
  const isNew = await acceptGeneration(database, call)
  if (isNew) metrics.accepted.inc()
  return isNew
}
const platformOf = createShopPlatforms({ leads: createLeads(database) })
const leadKeeper = createLeadKeeper({ platformOf, log, metrics })
lifecycle.onStop('leads', () => leadKeeper.stop())
const erase = (customer: Customer) => eraseCustomer(customer, { retention, generations, storage, queue: tryOnQueue })
const shares = createShares(database)
const sharing = { shares, storage, shareUrl: config.SHARE_URL, serviceName: config.SERVICE_NAME }

// Connections of its own: however many events come, and however long they take, try-ons do not wait for them.
const eventDatabase = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL, statementSeconds: 1 })
lifecycle.onStop('event database', () => eventDatabase.end())
// Opened before the first shopper waits for it.
pingDatabase(eventDatabase).catch(() => {})
const isForwarding = config.ANALYTICS_URL !== ''
const events = createEvents(eventDatabase, { forward: isForwarding })
const eventOutbox = createEventOutbox(database)
const housekeeping = startHousekeeping(
  { events: createEvents(database), outbox: eventOutbox, retentionDays: config.EVENT_RETENTION_DAYS },
  log,
)
lifecycle.onStop('event housekeeping', () => housekeeping.stop())
if (isForwarding) {
  const tell = createAnalyticsProvider({ url: config.ANALYTICS_URL, key: config.ANALYTICS_KEY })
  const forwarder = startForwarder({ outbox: eventOutbox, tell, log, metrics })
  lifecycle.onStop('event forwarder', () => forwarder.stop())
}
const LOOKUP_MS = 500
const eventProxy = shopProxy({
  ...proof,
  shops: { ...shops, find: (domain) => within(LOOKUP_MS, shops.find(domain)) },
  nonces: { ...nonces, use: (nonce) => within(LOOKUP_MS, nonces.use(nonce)) },
})
const findByPublishableKey = createKeyLookup({
  accounts: { findByKey: (key, kind) => within(LOOKUP_MS, accounts.findByKey(key, kind)) },
  kind: 'publishable',
})

const repeatedAnswers = createRepeatedAnswers({ metrics })
const app = createApp({
  log,
  metrics,
  development,
  proxyHops: config.PROXY_HOPS,
  routes: [
    // First what is asked most: callers fetch their generations again and again.
    generationRoutes({ guards: reading, generations, watch, present }),
    shopperGenerationRoutes({
      guards: [fromShop],
      generations,
      watch,
      // Shoppers are not told of their place in the line.
      present: createGenerationView({ storage, estimateWait: async () => null }),
    }),
    checkCreditsRoutes({
      guards: [fromShop],
      findAllowed: createShopCredits(database).find,
      keep: repeatedAnswers.keep,
    }),
    tryOnRoutes({
      guards: writing,
      personPhotos,
      productPhotos,
      accept,
      generations,
      watch,
      present,
      nudge: relay.nudge,
      defaultEngine: config.DEFAULT_ENGINE,
    }),
    imageRoutes({ guards: writing, photos: personPhotos, storage }),
    productRoutes({
      guards: writing,
      products: createProducts(database),
      photos: productPhotos,
      signingSecret: config.SIGNING_SECRET,
    }),
    customerRoutes({
      guards: reading,
      erase,
    }),
    accountRoutes({ guards: reading, accounts }),
    openApiRoutes({
      document: createDocument({ publicUrl: config.PUBLIC_URL, serviceName: config.SERVICE_NAME }),
    }),
    docsRoutes({ serviceName: config.SERVICE_NAME }),
    objectRoutes({ storage, signingSecret: config.SIGNING_SECRET }),
    shopperUploadRoutes({
      guards: [fromShop],
      limits: [storefrontLimit(uploads('upload'), ofShopper)],
      linkLimits: [storefrontLimit(uploads('upload-link'), ({ params }) => params.uploadKey)],
      parsers: [parseBody()],
      objects,
      uploads: createUploads(database),
      images,
      photos: personPhotos,
      storage,
      withFolder: createUploadFolders(join(tmpdir(), 'drape-storefront-uploads')),
      publicUrl: config.PUBLIC_URL,
      signingSecret: config.SIGNING_SECRET,
    }),
    fittingRoomRoutes({
      guards: [fromShop, parseBody()],
      fittings: createFittings(database),
      findProduct: (shop, product, variant) => platformOf(shop).findProduct(shop, product, variant),
      accept,
      nudge: relay.nudge,
      defaultEngine: config.DEFAULT_ENGINE,
    }),
    eventRoutes({
      keyOrProxy: publishableKeyOr(eventProxy, { findAccount: findByPublishableKey, ...proof }),
      proxy: eventProxy,
      events,
      metrics,
    }),
    emailRoutes({ proxy: fromShop, budget: perMinute('collect-email', 10), leads: leadKeeper }),
    shopifyWebhookRoutes({ shops, events, privacy: createShopPrivacy(database), erase }),
    shareRoutes({
      guards: [fromShop, storefrontLimit(perMinute('share', 20), ofShop), parseBody()],
      ...sharing,
    }),
    sharePageRoutes({
      guards: [storefrontLimit(perMinute('share-page', 60), ({ ip }) => hashAddress(ip, config.SIGNING_SECRET))],
      ...sharing,
    }),
    downloadRoutes({
      guards: [fromShop, storefrontLimit(perMinute('download', 100), ofShop)],
      objects,
      storage,
      serviceName: config.SERVICE_NAME,
    }),
  ],
})

const probes = createProbeServer({
  metrics,
  checks: { postgres: () => pingDatabase(database), redis: () => redis.ping(), storage: () => storage.check() },
})
probes.listen(config.PROBE_PORT)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
const server = createServer(repeatedAnswers.before(app.callback()))
server.listen(config.PORT, () => log.info({ port: config.PORT }, 'listening'))
// Time for a slow but honest upload of 10 MB; slower ones are cut so that they cannot hold the server.
server.requestTimeout = 60_000
server.headersTimeout = 15_000
lifecycle.onStop('server', async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  // What is still open by then are callers that follow a generation.
  watch.stop()
  await closed
})
