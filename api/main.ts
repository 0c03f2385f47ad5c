import type { RequestListener } from 'node:http'
import { createAccounts } from './accounts/accounts.store.ts'
import { createApiKeys } from './accounts/api-keys.store.ts'
import { createKeyLookup } from './accounts/key-lookup.ts'
import { createKeyUses } from './accounts/key-uses.ts'
import { isDevelopment, readApiConfig } from './config.ts'
import { createConsents } from './consents/consents.store.ts'
import { serveDashboard } from './dashboard/serve.ts'
import { createAppliedErasures } from './erasure/applied-erasures.store.ts'
import { applyErasures } from './erasure/apply-erasures.ts'
import { createErasureLog, type ErasureEntry } from './erasure/erasure-log.ts'
import { createErasures } from './erasure/erasures.store.ts'
import { startRepeatingErasures } from './erasure/repeat-erasures.ts'
import { acceptTogether } from './generations/accept-together.ts'
import { type Acceptance, acceptGenerations } from './generations/acceptance.store.ts'
import { createBacklog } from './generations/backlog.store.ts'
import { createBacklogGauges } from './generations/backlog-gauges.ts'
import { createEngineChoice } from './generations/engines/choice.ts'
import { createEngineDirectory } from './generations/engines/directory.ts'
import { createPublishedEngines } from './generations/engines/published-engines.store.ts'
import { createWaitEstimate } from './generations/engines/wait-estimate.ts'
import { createWaiting } from './generations/engines/waiting.store.ts'
import { createGenerationView } from './generations/generations.view.ts'
import { createOutbox } from './generations/outbox.ts'
import { createRelay } from './generations/relay.ts'
import { createTryOnQueues } from './generations/try-on-queues.ts'
import { createGenerationWatch } from './generations/watch.ts'
import { guideRoutes } from './guide/guide.routes.ts'
import { createApp } from './http/app.ts'
import { createDiskBudgets } from './http/bodies/disk-budget.ts'
import { createDrain, type Drain } from './http/drain.ts'
import { createAccountLimiter } from './http/limits/account-limiter.ts'
import { createBudget } from './http/limits/budget.ts'
import { createFetchLimiter, limitFetches } from './http/limits/fetch-limit.ts'
import { createOpenResponses } from './http/limits/open-responses.ts'
import { apiKey } from './http/middleware/api-key.ts'
import { parseBody } from './http/middleware/body.ts'
import { idempotency } from './http/middleware/idempotency.ts'
import { keyScope } from './http/middleware/key-scope.ts'
import { rateLimit } from './http/middleware/rate-limit.ts'
import { spoolBody } from './http/middleware/spooled-body.ts'
import { mount } from './http/mount.ts'
import { objectRoutes } from './http/objects.routes.ts'
import { createDocument } from './http/openapi/document.ts'
import { serveDocument } from './http/openapi/openapi.routes.ts'
import { createRequestLog } from './http/request-log.store.ts'
import { createRequestRecorder, type DropReason } from './http/request-recorder.ts'
import { startRoutes } from './http/start.routes.ts'
import { createPersonPhotos } from './photos/person-photos.ts'
import { createProductPhotos } from './photos/product-photos.ts'
import { createStorageQuota } from './photos/storage-quota.ts'
import { playgroundRoutes } from './playground/playground.routes.ts'
import { startImageFetching } from './products/image-fetching.ts'
import { BATCH_TYPES } from './products/product-batches.routes.ts'
import { createProductBatches } from './products/product-batches.store.ts'
import { createProducts } from './products/products.store.ts'
import { ROUTES, SERVER_ROUTES, STOREFRONT_ROUTES } from './routes.ts'
import { requireSecretBox } from './secrets/read-keys.ts'
import { startRewrap } from './secrets/start-rewrap.ts'
import { createStoredSecrets } from './secrets/stored-secrets.store.ts'
import { TEST_ENGINE } from './shared/contract/test-mode.ts'
import { createDatabase, pingDatabase } from './shared/database/database.ts'
import { createIdempotencyKeys } from './shared/database/idempotency.store.ts'
import { createEngineCards } from './shared/engines/engine-cards.ts'
import { generationChannel, type PrepareJob } from './shared/generations/generation.ts'
import { createGenerations } from './shared/generations/generations.store.ts'
import { createImages } from './shared/image/images.store.ts'
import { createImageFetcher } from './shared/network/fetch-image.ts'
import { createHostLookup } from './shared/network/host-lookup.ts'
import { createHttpServer } from './shared/network/http-server.ts'
import { createProbeServer } from './shared/network/probes.ts'
import { refuse } from './shared/network/unparsed-requests.ts'
import { configure } from './shared/process/config.ts'
import { createLifecycle } from './shared/process/lifecycle.ts'
import { WORKERS_CHANNEL } from './shared/queue/engine-queues.ts'
import { createPublish, createSubscriptions } from './shared/queue/pub-sub.ts'
import { createJobQueue } from './shared/queue/queue.ts'
import { createRedis } from './shared/queue/redis.ts'
import type { Customer } from './shared/retention/customer.ts'
import { eraseCustomer } from './shared/retention/erase.ts'
import { createRetention } from './shared/retention/retention.store.ts'
import { readKeyring } from './shared/signing/keyring.ts'
import { createObjects } from './shared/storage/objects.store.ts'
import { startStorageReconciling } from './shared/storage/start-reconciling.ts'
import { createStorage } from './shared/storage/storage.ts'
import { createReconciling } from './shared/storage/storage-reconciling.ts'
import { createLog } from './shared/telemetry/log.ts'
import { countEnds, measureFetch, measureStorage, watchConnections } from './shared/telemetry/measured.ts'
import { createMetrics } from './shared/telemetry/metrics.ts'
import { startTelemetry } from './shared/telemetry/telemetry.ts'
import { createShops } from './shops/shops.store.ts'
import { createEventAnalytics } from './storefront/events/event-analytics.store.ts'
import { createStorefront } from './storefront/storefront.ts'
import { widgetRoutes } from './storefront/widget/widget.routes.ts'
import { simulateRefusals } from './test-mode/refusals.ts'
import { startTestMode } from './test-mode/runner.ts'
import { createTestMode } from './test-mode/test-mode.store.ts'
import { createAppealUrls } from './trust/appeals/appeal-reference.ts'
import { createSafetyReviews } from './trust/appeals/safety-reviews.store.ts'
import { startIssuing } from './trust/receipts/issue.ts'
import { startMailing } from './trust/receipts/mail.ts'
import { createOrderReceiptMail } from './trust/receipts/order-mail.ts'
import { createReceiptKeys } from './trust/receipts/receipt-keys.store.ts'
import { createReceiptMails } from './trust/receipts/receipt-mails.store.ts'
import { startRemovals } from './trust/removals/erase-removed.ts'
import { createRemovals } from './trust/removals/removals.store.ts'
import { startWebhookDelivering } from './webhooks/deliver.ts'
import { createListenerWatch } from './webhooks/listener-watch.ts'
import { createWebhookSender } from './webhooks/send.ts'
import { createWebhookDeliveries } from './webhooks/webhook-deliveries.store.ts'
import { createWebhookEvents } from './webhooks/webhook-events.store.ts'
import { createWebhookListeners } from './webhooks/webhook-listeners.store.ts'
import { createWebhooks } from './webhooks/webhooks.store.ts'

const STARTING = {
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'The service is starting: the database is being compared with the erasure log. Retry after 1 second.',
} as const

const config = configure(readApiConfig)
const secrets = configure((env) => requireSecretBox(env, { development: isDevelopment(config) }))
const log = createLog({ process: 'api', level: config.LOG_LEVEL })
const lifecycle = createLifecycle({ log, graceSeconds: 20 })
const metrics = createMetrics('api')
const telemetry = await startTelemetry({
  service: 'drape-api',
  env: process.env,
  onFault: (reason) => log.warn({ reason }, 'telemetry export failed'),
})
lifecycle.onStop('telemetry', () => telemetry.stop())

const database = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL, secrets })
lifecycle.onStop('database', () => database.end())
watchConnections(database, metrics)
const redis = createRedis(config.REDIS_URL, { role: 'producer', log })
lifecycle.onStop('redis', () => redis.close())
const subscriptions = createSubscriptions(() => createRedis(config.REDIS_URL, { role: 'subscriber', log }))
lifecycle.onStop('subscriptions', () => subscriptions.close())
const storage = measureStorage(
  await createStorage(config.STORAGE_URL, {
    publicUrl: config.PUBLIC_URL,
    signingSecret: config.SIGNING_SECRET,
    onFallback: (reason) => log.warn(reason),
  }),
  metrics,
)
lifecycle.onStop('storage', () => storage.close())
// Of an object that never exists: shows at the start, and not at the first erasure, whether objects can be deleted.
storage
  .delete(['checks/none.bin'])
  .catch((error) => log.error({ err: error }, 'the storage cannot delete objects: erasures and retention wait for it'))
const tryOnQueues = createTryOnQueues(redis)
lifecycle.onStop('try-on queues', () => tryOnQueues.close())
const prepareQueue = createJobQueue<PrepareJob>({ redis, name: 'prepare', awaits: true })
lifecycle.onStop('prepare queue', () => prepareQueue.close())

const accounts = createAccounts(database)
const engines = createEngineDirectory({
  redis,
  cards: createEngineCards(redis),
  published: createPublishedEngines(database),
  configured: [config.DEFAULT_ENGINE, ...config.ENGINES],
  now: () => performance.timeOrigin + performance.now(),
})
const publish = createPublish(redis, log)
const announce = countEnds((change) => publish(generationChannel(change.id), change), metrics)
const generations = createGenerations(database, announce)
const objects = createObjects(database)
const lookup = createHostLookup({ servers: config.FETCH_DNS_SERVERS })
const fetchRules = { lookup, allowCidrs: config.FETCH_ALLOW_CIDRS, allowPorts: config.FETCH_ALLOW_PORTS }
const fetchPersonImage = createImageFetcher({ ...fetchRules, failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED' })
const fetchProductImage = createImageFetcher({ ...fetchRules, failureCode: 'PRODUCT_IMAGE_FETCH_FAILED' })
const fetchLimiter = createFetchLimiter()
const images = createImages(database)
const reserveStorage = createStorageQuota({
  sumBytes: objects.sumBytes,
  defaultBytes: config.STORAGE_QUOTA_MB * 1024 * 1024,
})
const personPhotos = createPersonPhotos({
  reserveStorage,
  images,
  storage,
  fetchImage: limitFetches(measureFetch(fetchPersonImage, metrics), fetchLimiter),
  prepareQueue,
  countWorkers: () => redis.countSlots('prepare'),
})
const productPhotos = createProductPhotos({ objects, storage, reserveStorage })
const products = createProducts(database)
const retention = createRetention(database)
const watch = createGenerationWatch({ generations, subscriptions })
const estimate = createWaitEstimate({ waiting: createWaiting(database), listEngines: engines.list })
const engineChoice = createEngineChoice({
  engines,
  estimateWait: estimate.ofCall,
  installation: config.DEFAULT_ENGINE,
})
const appealUrlOf = createAppealUrls({ publicUrl: config.PUBLIC_URL, secret: config.SIGNING_SECRET })
const present = createGenerationView({ storage, estimateWait: estimate.ofGeneration, appealUrlOf })

// Separate connections: one holds a lock, and a search for many people takes long.
const erasureDatabase = createDatabase(config.DATABASE_URL, { poolSize: 3, statementSeconds: 600, secrets })
lifecycle.onStop('erasure database', () => erasureDatabase.end())
const erasureLog = createErasureLog(storage)
const repeating = startRepeatingErasures({
  applied: createAppliedErasures(erasureDatabase),
  erasureLog,
  apply: (entries, signal) =>
    applyErasures(
      entries,
      {
        retention: createRetention(erasureDatabase),
        generations: createGenerations(erasureDatabase, announce),
        queue: tryOnQueues,
        prepareQueue,
        storage,
      },
      signal,
    ),
  metrics,
  log,
})
lifecycle.onStop('repeated erasures', () => repeating.stop())
let drain: Drain | null = null
const probes = createProbeServer({
  log,
  metrics,
  checks: {
    postgres: () => pingDatabase(database),
    redis: () => redis.ping(),
    storage: () => storage.check(),
    erasures: () => repeating.check(),
    server: async () => {
      if (drain === null) throw new Error('the process is starting')
      if (drain.isDraining()) throw new Error('the process is shutting down')
    },
  },
})
probes.listen(config.PROBE_PORT, config.PROBE_HOST || undefined)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
let handle: RequestListener = (_, response) => {
  response.setHeader('retry-after', '1')
  refuse(response, STARTING)
}
const server = createHttpServer((request, response) => handle(request, response), { name: 'api', log, metrics })
server.listen(config.PORT, () => log.info({ port: config.PORT }, 'listening'))
// A restored database contains people who were erased after the backup. Until they are erased again, nothing below may serve or
// dispatch anything: every request is refused.
await repeating.repeated

const relay = createRelay({
  outbox: createOutbox(database),
  generations,
  queues: tryOnQueues,
  log,
  metrics,
})
// Separate connections: other calls never wait for the long statements of analytics.
const analyticsDatabase = createDatabase(config.DATABASE_URL, { poolSize: 2, secrets })
lifecycle.onStop('analytics database', () => analyticsDatabase.end())
// Separate connections: callers never wait for deliveries.
const webhookDatabase = createDatabase(config.DATABASE_URL, { poolSize: 2, secrets })
lifecycle.onStop('webhook database', () => webhookDatabase.end())
const rewrap = startRewrap(
  { stored: createStoredSecrets(webhookDatabase), delaySeconds: config.SECRETS_REWRAP_DELAY },
  log,
)
lifecycle.onStop('rewrap', () => rewrap.stop())
const reconciling = startStorageReconciling(
  createReconciling({
    database: webhookDatabase,
    storage,
    metrics,
    log,
    everyHours: config.RECONCILE_HOURS,
  }),
  { log },
)
lifecycle.onStop('storage reconciling', () => reconciling.stop())
const deliveries = createWebhookDeliveries(webhookDatabase)
const gauges = createBacklogGauges({
  backlog: createBacklog(database),
  countSlots: () => redis.countSlots('try-on'),
  findEngineSlots: engines.list,
  measureWebhookLag: deliveries.measureLag,
  measureOldestReview: createSafetyReviews(database).measureOldest,
  measureOldestErasure: createErasures(database).measureOldest,
  metrics,
  log,
})
lifecycle.onStop('backlog gauges', () => gauges.stop())
lifecycle.onStop('relay', () => relay.stop())
subscriptions.subscribeAll(generationChannel(''), relay.noteGenerationChange)
subscriptions.subscribe(WORKERS_CHANNEL, relay.noteWorker)

const sendWebhook = createWebhookSender({
  lookup,
  allowCidrs: config.FETCH_ALLOW_CIDRS,
  allowPorts: config.FETCH_ALLOW_PORTS,
  openSecrets: deliveries.openSecrets,
})
const delivering = startWebhookDelivering({ deliveries, send: sendWebhook, log, metrics })
lifecycle.onStop('webhooks', () => delivering.stop())

const keys = createApiKeys(database)
const uses = createKeyUses({ keys, log })
lifecycle.onStop('uses of keys', () => uses.stop())
const findKey = createKeyLookup({ keys, kind: 'secret', uses })
const authenticate = apiKey({ findKey })
const onLocal = () => metrics.localCounts.inc()
const refuseTests = simulateRefusals()
const reading = [authenticate, rateLimit({ redis, onLocal }), keyScope(), refuseTests]
const disk = createDiskBudgets(config.UPLOAD_DISK_MB)
const writing = [
  ...reading,
  parseBody({ disk: disk.accounts, maxJsonBytes: config.MAX_JSON_MB * 1024 * 1024 }),
  refuseTests,
  idempotency({ keys: createIdempotencyKeys(database) }),
]
const acceptOne = acceptTogether((calls) => acceptGenerations(database, calls))
const accept = async (call: Acceptance) => {
  const isNew = await acceptOne(call)
  if (isNew && call.engine !== TEST_ENGINE) metrics.accepted.inc()
  if (isNew) metrics.reserved.inc(call.cost)
  return isNew
}
const testMode = startTestMode({ testMode: createTestMode(database), generations, objects, storage, log })
lifecycle.onStop('test mode', () => testMode.stop())
const wake = () => {
  relay.wake()
  testMode.wake()
}
const batches = createProductBatches(database)
const fetching = startImageFetching({
  batches,
  accounts,
  objects,
  storage,
  reserveStorage,
  log,
  metrics,
  fetchImage: limitFetches(measureFetch(fetchProductImage, metrics), fetchLimiter),
})
lifecycle.onStop('images of batches', () => fetching.stop())
const busy = 'Too many product batches are in progress. Send the batch again after the seconds in Retry-After.'
const batchLimiter = createAccountLimiter({ maxConcurrent: 1, maxWaiting: 4, maxWaitMs: 20_000, message: busy })
const analyticsLimiter = createAccountLimiter({
  maxConcurrent: 1,
  maxWaiting: 4,
  maxWaitMs: 20_000,
  message: 'Another analytics query of this account is running. Retry after Retry-After seconds.',
})
const allBatches = createAccountLimiter({ maxConcurrent: 2, maxWaiting: 40, maxWaitMs: 20_000, message: busy })
const webhooks = createWebhooks(database)
const listeners = createWebhookListeners(database)
const listenerWatch = createListenerWatch({ listeners, log })
const erasures = createErasures(database)
const keyring = readKeyring({
  prefix: 'RECEIPT',
  pem: config.RECEIPT_KEY,
  transitKey: config.RECEIPT_TRANSIT_KEY,
  token: config.RECEIPT_TRANSIT_TOKEN,
  tokenFile: config.RECEIPT_TRANSIT_TOKEN_FILE,
})
if (keyring.origin === 'made')
  log.warn('RECEIPT_KEY is not set: receipts are signed with a temporary key, which is lost when this process exits')
// Uses the connections of deliveries, so that callers never wait for receipts.
const issuing = startIssuing({
  erasures: createErasures(webhookDatabase),
  receiptKeys: createReceiptKeys(webhookDatabase),
  dropJobs: tryOnQueues.drop,
  keyring,
  installation: config.PUBLIC_URL,
  storage,
  log,
})
lifecycle.onStop('erasure receipts', () => issuing.stop())
const erase = async (customer: Customer) => {
  const logKeys: string[] = []
  const recordErasure = async (entry: ErasureEntry) => {
    const logKey = await erasureLog.record(entry)
    await erasures.noteLogged(customer, logKey)
    logKeys.push(logKey)
  }
  await eraseCustomer(customer, { retention, generations, storage, queue: tryOnQueues, prepareQueue, recordErasure })
  const erasureId = await erasures.finish(customer, logKeys)
  await webhooks.insertErased(customer, erasureId)
  issuing.wake()
  return erasureId
}
const sendMail =
  config.SMTP_URL === ''
    ? null
    : (await import('./trust/receipts/smtp.ts')).createSendMail({ url: config.SMTP_URL, from: config.MAIL_FROM })
const mailing =
  sendMail &&
  startMailing({
    mails: createReceiptMails(webhookDatabase),
    send: sendMail,
    log,
    installation: config.PUBLIC_URL,
    serviceName: config.SERVICE_NAME,
  })
lifecycle.onStop('receipt mails', () => mailing?.stop())
const orderReceiptMail = createOrderReceiptMail({
  mails: mailing && createReceiptMails(database),
  signingSecret: config.SIGNING_SECRET,
  createBudget: (budget) => createBudget({ redis, onLocal, ...budget }),
})
const removing = startRemovals({ removals: createRemovals(webhookDatabase), erase, log })
lifecycle.onStop('removals', () => removing.stop())
const storefront = createStorefront({
  config,
  log,
  metrics,
  lifecycle,
  database,
  redis,
  storage,
  images,
  objects,
  uses,
  generations,
  watch,
  ...{
    personPhotos,
    reserveStorage,
    shopperDisk: disk.shoppers,
    accept,
    erase,
    chooseEngine: engineChoice.choose,
    defaultEngineOf: engineChoice.defaultOf,
    engines,
    accounts,
    wake,
    appealUrlOf,
  },
})
await serveDashboard({ config, log, metrics, lifecycle, redis, storage, secrets, announce, engines })
const requestLog = createRequestLog(webhookDatabase)
const onDrop = (reason: DropReason, count: number) => metrics.requestLogDrops.inc({ reason }, count)
const recorder = createRequestRecorder({ requestLog, onDrop, log })
lifecycle.onStop('request log', () => recorder.stop())
const document = createDocument(ROUTES, { publicUrl: config.PUBLIC_URL, serviceName: config.SERVICE_NAME })
const app = createApp({
  log,
  metrics,
  development: isDevelopment(config),
  proxyHops: config.PROXY_HOPS,
  record: recorder.record,
  routes: [
    mount(SERVER_ROUTES, {
      reading,
      writing,
      authenticate,
      personPhotos,
      productPhotos,
      storage,
      accounts,
      generations,
      products,
      ...{
        watch,
        present,
        openResponse: createOpenResponses(),
        accept,
        wake,
        erase,
        erasures,
        orderReceiptMail,
        batches,
        listeners,
        listenerWatch,
        engines,
        reserveStorage,
      },
      polling: [authenticate, rateLimit({ redis, kind: 'polls', onLocal }), keyScope(), refuseTests, parseBody()],
      writingBatch: [
        ...reading,
        spoolBody(BATCH_TYPES, { disk: disk.accounts }),
        idempotency({ keys: createIdempotencyKeys(database) }),
      ],
      limitBatches: (accountId, work) => batchLimiter(accountId, () => allBatches('all', work)),
      onItem: (result) => metrics.batchItems.inc({ result }),
      chooseEngine: engineChoice.choose,
      defaultEngineOf: engineChoice.defaultOf,
      estimateWait: estimate.ofCall,
      findProduct: products.find,
      consents: createConsents(database),
      reviews: createSafetyReviews(database),
      analytics: createEventAnalytics(analyticsDatabase),
      shops: createShops(database),
      analyticsLimiter,
      webhookEvents: createWebhookEvents(database),
      signingSecret: config.SIGNING_SECRET,
      document: serveDocument(document),
    }),
    mount(STOREFRONT_ROUTES, storefront.parts),
    startRoutes({ serviceName: config.SERVICE_NAME, publicUrl: config.PUBLIC_URL }),
    guideRoutes({ serviceName: config.SERVICE_NAME, publicUrl: config.PUBLIC_URL, document }),
    playgroundRoutes({ serviceName: config.SERVICE_NAME, storage }),
    widgetRoutes(),
    objectRoutes({ storage, signingSecret: config.SIGNING_SECRET }),
  ],
})

handle = storefront.before(app.callback())
const draining = createDrain(server, config.LINGER_SECONDS)
drain = draining
log.info('serving')
// Only event streams of generations and listeners are still open by then.
lifecycle.onStop('server', () =>
  draining.drain(() => {
    watch.stop()
    listenerWatch.stop()
  }),
)
