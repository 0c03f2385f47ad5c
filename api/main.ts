import { createServer } from 'node:http'
import { acceptTogether } from './accept-together.ts'
import { createApp } from './app.ts'
import { createBacklogGauges } from './backlog-gauges.ts'
import { isDevelopment, readApiConfig } from './config.ts'
import { serveDashboard } from './dashboard/serve.ts'
import { createDrain } from './drain.ts'
import { createGenerationWatch } from './generation-watch.ts'
import { apiKey } from './middleware/api-key.ts'
import { parseBody } from './middleware/body.ts'
import { idempotency } from './middleware/idempotency.ts'
import { rateLimit } from './middleware/rate-limit.ts'
import { createDocument } from './openapi/document.ts'
import { createPersonPhotos } from './person-photos.ts'
import { createProductPhotos } from './product-photos.ts'
import { createOutbox } from './relay/outbox.ts'
import { createRelay } from './relay/relay.ts'
import { docsRoutes } from './routes/docs/docs.ts'
import { objectRoutes } from './routes/objects.ts'
import { playgroundRoutes } from './routes/playground/playground.ts'
import { accountRoutes } from './routes/server/account.ts'
import { customerRoutes } from './routes/server/customers.ts'
import { generationRoutes } from './routes/server/generations.ts'
import { createGenerationView } from './routes/server/generations.view.ts'
import { imageRoutes } from './routes/server/images.ts'
import { openApiRoutes } from './routes/server/openapi.ts'
import { productRoutes } from './routes/server/products.ts'
import { tryOnRoutes } from './routes/server/try-on.ts'
import { widgetRoutes } from './routes/widget/widget.ts'
import { createDatabase, pingDatabase } from './shared/database.ts'
import { createImageFetcher } from './shared/fetch-image.ts'
import { generationChannel, type PrepareJob, type TryOnJob } from './shared/generation.ts'
import { createLifecycle } from './shared/lifecycle.ts'
import { createLog } from './shared/log.ts'
import { countEnds, measureFetch, measureStorage, watchConnections } from './shared/measured.ts'
import { createMetrics } from './shared/metrics.ts'
import { createProbeServer } from './shared/probes.ts'
import { createPublish, createSubscriptions } from './shared/pub-sub.ts'
import { createJobQueue } from './shared/queue.ts'
import { createRedis } from './shared/redis.ts'
import { eraseCustomer } from './shared/retention.ts'
import { createStorage } from './shared/storage/storage.ts'
import { createGenerations } from './shared/stores/generations.ts'
import { createIdempotencyKeys } from './shared/stores/idempotency.ts'
import { createImages } from './shared/stores/images.ts'
import { createObjects } from './shared/stores/objects.ts'
import { type Customer, createRetention } from './shared/stores/retention.ts'
import { startTelemetry } from './shared/telemetry.ts'
import { createStorefront } from './storefront.ts'
import { type Acceptance, acceptGenerations } from './stores/acceptance.ts'
import { createAccounts } from './stores/accounts.ts'
import { createBacklog } from './stores/backlog.ts'
import { createProducts } from './stores/products.ts'
import { createWaiting } from './stores/waiting.ts'
import { createWebhookDeliveries } from './stores/webhook-deliveries.ts'
import { createWebhooks } from './stores/webhooks.ts'
import { createWaitEstimate } from './wait-estimate.ts'
import { startWebhookDelivering } from './webhooks/deliver.ts'
import { createWebhookSender } from './webhooks/send.ts'

const config = readApiConfig(process.env)
const log = createLog({ process: 'api', level: config.LOG_LEVEL })
const lifecycle = createLifecycle({ log, graceSeconds: 20 })
const metrics = createMetrics('api')
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
  await createStorage(config.STORAGE_URL, { publicUrl: config.PUBLIC_URL, signingSecret: config.SIGNING_SECRET }),
  metrics,
)
lifecycle.onStop('storage', () => storage.close())
const tryOnQueue = createJobQueue<TryOnJob>({ redis, name: 'try-on' })
lifecycle.onStop('try-on queue', () => tryOnQueue.close())
const prepareQueue = createJobQueue<PrepareJob>({ redis, name: 'prepare', results: true })
lifecycle.onStop('prepare queue', () => prepareQueue.close())

const accounts = createAccounts(database)
const publish = createPublish(redis, log)
const announce = countEnds((change) => publish(generationChannel(change.id), change), metrics)
const generations = createGenerations(database, announce)
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
// Connections of its own: however much is to be told, callers do not wait for it.
const webhookDatabase = createDatabase(config.DATABASE_URL, { poolSize: 2 })
lifecycle.onStop('webhook database', () => webhookDatabase.end())
const deliveries = createWebhookDeliveries(webhookDatabase)
const gauges = createBacklogGauges({
  backlog: createBacklog(database),
  countSlots,
  measureWebhookLag: deliveries.measureLag,
  metrics,
  log,
})
lifecycle.onStop('backlog gauges', () => gauges.stop())
lifecycle.onStop('relay', () => relay.stop())
subscriptions.subscribeAll(generationChannel(''), relay.noteMove)

const sendWebhook = createWebhookSender({
  allowCidrs: config.FETCH_ALLOW_CIDRS,
  allowPorts: config.FETCH_ALLOW_PORTS,
})
const delivering = startWebhookDelivering({ deliveries, send: sendWebhook, log, metrics })
lifecycle.onStop('webhooks', () => delivering.stop())

const reading = [apiKey({ accounts }), rateLimit({ redis })]
const writing = [...reading, parseBody(), idempotency({ keys: createIdempotencyKeys(database) })]
const acceptOne = acceptTogether((calls) => acceptGenerations(database, calls))
const accept = async (call: Acceptance) => {
  const isNew = await acceptOne(call)
  if (isNew) metrics.accepted.inc()
  if (isNew) metrics.reserved.inc(call.cost)
  return isNew
}
const webhooks = createWebhooks(database)
const erase = async (customer: Customer) => {
  await eraseCustomer(customer, { retention, generations, storage, queue: tryOnQueue })
  await webhooks.insertErased(customer)
}
const storefront = createStorefront({
  ...{ config, log, metrics, lifecycle, database, redis, storage, images, objects, accounts, generations, watch },
  ...{ personPhotos, accept, erase, nudge: relay.nudge },
})
serveDashboard({ config, log, lifecycle, redis, storage })
const app = createApp({
  log,
  metrics,
  development: isDevelopment(config),
  proxyHops: config.PROXY_HOPS,
  routes: [
    // First what is asked most: callers fetch their generations again and again.
    generationRoutes({ guards: reading, generations, watch, present }),
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
    ...storefront.routes,
    docsRoutes({ serviceName: config.SERVICE_NAME }),
    playgroundRoutes({ serviceName: config.SERVICE_NAME, defaultEngine: config.DEFAULT_ENGINE, storage }),
    widgetRoutes(),
    objectRoutes({ storage, signingSecret: config.SIGNING_SECRET }),
  ],
})

const server = createServer(storefront.before(app.callback()))
const drain = createDrain(server, config.LINGER_SECONDS)
const probes = createProbeServer({
  metrics,
  checks: {
    postgres: () => pingDatabase(database),
    redis: () => redis.ping(),
    storage: () => storage.check(),
    server: async () => {
      if (drain.isDraining()) throw new Error('it is about to end')
    },
  },
})
probes.listen(config.PROBE_PORT)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
server.listen(config.PORT, () => log.info({ port: config.PORT }, 'listening'))
// Time for a slow but honest upload of 10 MB; slower ones are cut so that they cannot hold the server.
server.requestTimeout = 60_000
server.headersTimeout = 15_000
// What is still open by then are callers that follow a generation.
lifecycle.onStop('server', () => drain.drain(() => watch.stop()))
