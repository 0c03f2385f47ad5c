import type { RequestListener } from 'node:http'
import { createApp } from './app.ts'
import { createAppealUrls } from './appeals/reference.ts'
import { createKeyLookup } from './authentication/key-lookup.ts'
import { createKeyUses } from './authentication/key-uses.ts'
import { createDiskBudgets } from './bodies/disk-budget.ts'
import { startImageFetching } from './catalog/image-fetching.ts'
import { isDevelopment, readApiConfig } from './config.ts'
import { serveDashboard } from './dashboard/serve.ts'
import { createDrain, type Drain } from './drain.ts'
import { createEngineChoice } from './engines/choice.ts'
import { createEngineDirectory } from './engines/directory.ts'
import { createWaitEstimate } from './engines/wait-estimate.ts'
import { acceptTogether } from './generations/accept-together.ts'
import { createBacklogGauges } from './generations/backlog-gauges.ts'
import { createTryOnQueues } from './generations/try-on-queues.ts'
import { createGenerationWatch } from './generations/watch.ts'
import { createBudget } from './limits/budget.ts'
import { createFetchLanes, limitFetches } from './limits/fetch-limit.ts'
import { createLanes } from './limits/lanes.ts'
import { createOpenResponses } from './limits/open-responses.ts'
import { createStorageQuota } from './limits/storage-quota.ts'
import { apiKey } from './middleware/api-key.ts'
import { parseBody } from './middleware/body.ts'
import { idempotency } from './middleware/idempotency.ts'
import { keyScope } from './middleware/key-scope.ts'
import { rateLimit } from './middleware/rate-limit.ts'
import { spoolBody } from './middleware/spooled-body.ts'
import { createDocument } from './openapi/document.ts'
import { createPersonPhotos } from './photos/person-photos.ts'
import { createProductPhotos } from './photos/product-photos.ts'
import { startIssuing } from './receipts/issue.ts'
import { startMailing } from './receipts/mail.ts'
import { createOrderReceiptMail } from './receipts/order-mail.ts'
import { createOutbox } from './relay/outbox.ts'
import { createRelay } from './relay/relay.ts'
import { startRemovals } from './removals/erase.ts'
import { createRequestRecorder, type DropReason } from './request-recorder.ts'
import { guideRoutes } from './routes/guide/guide.ts'
import { mount } from './routes/mount.ts'
import { objectRoutes } from './routes/objects.ts'
import { playgroundRoutes } from './routes/playground/playground.ts'
import { ROUTES, SERVER_ROUTES, STOREFRONT_ROUTES } from './routes/routes.ts'
import { createGenerationView } from './routes/server/generations.view.ts'
import { serveDocument } from './routes/server/openapi.ts'
import { BATCH_TYPES } from './routes/server/product-batches.ts'
import { startRoutes } from './routes/start/start.ts'
import { widgetRoutes } from './routes/widget/widget.ts'
import { requireSecretBox } from './secrets/read-keys.ts'
import { startRewrap } from './secrets/start-rewrap.ts'
import { configure } from './shared/config.ts'
import { createDatabase, pingDatabase } from './shared/database/database.ts'
import { createEngineCards } from './shared/engine-cards.ts'
import { createImageFetcher } from './shared/fetch-image.ts'
import { generationChannel, type PrepareJob } from './shared/generation.ts'
import { createHostLookup } from './shared/host-lookup.ts'
import { createHttpServer } from './shared/http-server.ts'
import { readKeyring } from './shared/keyring.ts'
import { WORKERS_CHANNEL } from './shared/lanes.ts'
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
import { createReconciling } from './shared/storage-reconciling.ts'
import type { Customer } from './shared/stores/customer.ts'
import { createGenerations } from './shared/stores/generations.ts'
import { createIdempotencyKeys } from './shared/stores/idempotency.ts'
import { createImages } from './shared/stores/images.ts'
import { createObjects } from './shared/stores/objects.ts'
import { createRetention } from './shared/stores/retention.ts'
import { startTelemetry } from './shared/telemetry.ts'
import { TEST_ENGINE } from './shared/test-mode.ts'
import { refuse } from './shared/unparsed-requests.ts'
import { applyErasures } from './storage/apply-erasures.ts'
import { createErasureLog, type ErasureEntry } from './storage/erasure-log.ts'
import { startRepeatingErasures } from './storage/repeat-erasures.ts'
import { startStorageReconciling } from './storage/start-reconciling.ts'
import { createStorefront } from './storefront.ts'
import { type Acceptance, acceptGenerations } from './stores/acceptance.ts'
import { createAccounts } from './stores/accounts.ts'
import { createApiKeys } from './stores/api-keys.ts'
import { createAppliedErasures } from './stores/applied-erasures.ts'
import { createBacklog } from './stores/backlog.ts'
import { createConsents } from './stores/consents.ts'
import { createErasures } from './stores/erasures.ts'
import { createEventAnalytics } from './stores/event-analytics.ts'
import { createProductBatches } from './stores/product-batches.ts'
import { createProducts } from './stores/products.ts'
import { createPublishedEngines } from './stores/published-engines.ts'
import { createReceiptKeys } from './stores/receipt-keys.ts'
import { createReceiptMails } from './stores/receipt-mails.ts'
import { createRemovals } from './stores/removals.ts'
import { createRequestLog } from './stores/request-log.ts'
import { createSafetyReviews } from './stores/safety-reviews.ts'
import { createShops } from './stores/shops.ts'
import { createStoredSecrets } from './stores/stored-secrets.ts'
import { createTestMode } from './stores/test-mode.ts'
import { createWaiting } from './stores/waiting.ts'
import { createWebhookDeliveries } from './stores/webhook-deliveries.ts'
import { createWebhookEvents } from './stores/webhook-events.ts'
import { createWebhookListeners } from './stores/webhook-listeners.ts'
import { createWebhooks } from './stores/webhooks.ts'
import { simulateRefusals } from './test-mode/refusals.ts'
import { startTestMode } from './test-mode/runner.ts'
import { startWebhookDelivering } from './webhooks/deliver.ts'
import { createListenerWatch } from './webhooks/listener-watch.ts'
import { createWebhookSender } from './webhooks/send.ts'

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
    ...{ publicUrl: config.PUBLIC_URL, signingSecret: config.SIGNING_SECRET },
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
const fetchLanes = createFetchLanes()
const images = createImages(database)
const reserveStorage = createStorageQuota({
  sumBytes: objects.sumBytes,
  defaultBytes: config.STORAGE_QUOTA_MB * 1024 * 1024,
})
const personPhotos = createPersonPhotos({
  reserveStorage,
  images,
  storage,
  fetchImage: limitFetches(measureFetch(fetchPersonImage, metrics), fetchLanes),
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
  ...{ metrics, log },
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
    ...{ database: webhookDatabase, storage, metrics, log },
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
  ...{ batches, accounts, objects, storage, reserveStorage, log, metrics },
  fetchImage: limitFetches(measureFetch(fetchProductImage, metrics), fetchLanes),
})
lifecycle.onStop('images of batches', () => fetching.stop())
const busy = 'Too many product batches are in progress. Send the batch again after the seconds in Retry-After.'
const batchLanes = createLanes({ maxConcurrent: 1, maxWaiting: 4, maxWaitMs: 20_000, message: busy })
const analyticsLanes = createLanes({
  ...{ maxConcurrent: 1, maxWaiting: 4, maxWaitMs: 20_000 },
  message: 'Other analytics of the account are being counted. Retry after Retry-After seconds.',
})
const allBatches = createLanes({ maxConcurrent: 2, maxWaiting: 40, maxWaitMs: 20_000, message: busy })
const webhooks = createWebhooks(database)
const listeners = createWebhookListeners(database)
const listenerWatch = createListenerWatch({ listeners, log })
const erasures = createErasures(database)
const keyring = readKeyring({
  ...{ prefix: 'RECEIPT', pem: config.RECEIPT_KEY, transitKey: config.RECEIPT_TRANSIT_KEY },
  ...{ token: config.RECEIPT_TRANSIT_TOKEN, tokenFile: config.RECEIPT_TRANSIT_TOKEN_FILE },
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
  ...{ storage, log },
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
    : (await import('./mail/smtp.ts')).createSendMail({ url: config.SMTP_URL, from: config.MAIL_FROM })
const mailing =
  sendMail &&
  startMailing({
    ...{ mails: createReceiptMails(webhookDatabase), send: sendMail, log },
    ...{ installation: config.PUBLIC_URL, serviceName: config.SERVICE_NAME },
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
  ...{ config, log, metrics, lifecycle, database, redis, storage, images, objects, uses, generations, watch },
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
      ...{ reading, writing, authenticate, personPhotos, productPhotos, storage, accounts, generations, products },
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
      lanes: (accountId, work) => batchLanes(accountId, () => allBatches('all', work)),
      onItem: (result) => metrics.batchItems.inc({ result }),
      chooseEngine: engineChoice.choose,
      defaultEngineOf: engineChoice.defaultOf,
      estimateWait: estimate.ofCall,
      findProduct: products.find,
      consents: createConsents(database),
      reviews: createSafetyReviews(database),
      analytics: createEventAnalytics(analyticsDatabase),
      shops: createShops(database),
      analyticsLanes,
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
