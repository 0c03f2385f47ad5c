import type { RequestListener } from 'node:http'
import { startAccounts } from './accounts/start.ts'
import { isDevelopment, openConnections, readApiConfig } from './config.ts'
import { createConsents } from './consents/consents.store.ts'
import { refuseReceiptMail } from './erasure/customers.routes.ts'
import { createErasing, repeatErasures } from './erasure/start.ts'
import type { Core, Extension } from './feature.ts'
import { answerOf, chooseFeatures } from './features.ts'
import { createTryOns, startRelay } from './generations/start.ts'
import { createApp } from './http/app.ts'
import { CORE_ROUTES, operationsOf } from './http/core-routes.ts'
import { createOpenResponses } from './http/limits/open-responses.ts'
import { refuseTestKeys } from './http/middleware/api-key.ts'
import { mount } from './http/mount.ts'
import { objectRoutes } from './http/objects.routes.ts'
import { createDocument } from './http/openapi/document.ts'
import { serveDocument } from './http/openapi/openapi.routes.ts'
import { createRequestLog } from './http/request-log.store.ts'
import { createRequestRecorder } from './http/request-recorder.ts'
import { startServer } from './http/serve.ts'
import { startRoutes } from './http/start.routes.ts'
import { createPhotos } from './photos/start.ts'
import { startProducts } from './products/start.ts'
import { requireSecretBox } from './secrets/read-keys.ts'
import { startRewrap } from './secrets/start-rewrap.ts'
import { createStoredSecrets } from './secrets/stored-secrets.store.ts'
import { useProxies } from './shared/network/proxies.ts'
import { configure, type Surroundings } from './shared/process/config.ts'
import { createReconciling, startStorageReconciling } from './shared/storage/reconcile-daily.ts'
import { createShopGuards } from './shops/start.ts'
import { startWebhooks } from './webhooks/start.ts'

if (import.meta.main) await startApi({ host: process })

/** Resolves when it serves. It ends when its host does. */
export async function startApi(surroundings: Surroundings): Promise<void> {
  const { host } = surroundings
  configure(useProxies, host)
  const config = configure(readApiConfig, host)
  const features = configure(() => chooseFeatures(config.FEATURES), host)
  const secrets = configure((env) => requireSecretBox(env, { development: isDevelopment(config) }), host)
  const connections = await openConnections(config, secrets, surroundings)
  const { log, lifecycle, metrics, database, backgroundDatabase, storage } = connections
  const extensions: Extension[] = []

  const tryOns = createTryOns(connections, {
    appealUrlOf: (refusal) => answerOf(extensions, 'appealUrlOf')?.(refusal) ?? null,
  })
  const repeating = repeatErasures(connections, tryOns)
  const server = startServer(connections, { checkErasures: () => repeating.check() })
  // A restored database contains people who were erased after the backup. Until they are erased again, nothing below may serve or
  // dispatch anything: every request is refused.
  await repeating.repeated

  const relay = startRelay(connections, tryOns)
  const rewrap = startRewrap(
    { stored: createStoredSecrets(backgroundDatabase), delaySeconds: isDevelopment(config) ? 0 : 600 },
    log,
  )
  lifecycle.onStop('rewrap', () => rewrap.stop())
  const reconciling = startStorageReconciling(
    createReconciling({ database: backgroundDatabase, storage, metrics, log }),
    { log },
  )
  lifecycle.onStop('storage reconciling', () => reconciling.stop())
  const photos = createPhotos(connections, tryOns)
  const webhooks = startWebhooks(connections, photos)
  const accounts = startAccounts(connections, {
    guard: features.find(({ guard }) => guard !== undefined)?.guard ?? refuseTestKeys,
  })
  const products = startProducts(connections, { ...photos, ...accounts })
  const erasing = createErasing(connections, tryOns, {
    onErased: () => {
      for (const { onErased } of extensions) onErased?.()
    },
  })
  const document = createDocument(operationsOf(features), {
    publicUrl: config.PUBLIC_URL,
    serviceName: config.SERVICE_NAME,
  })
  const core: Core = {
    ...connections,
    ...tryOns,
    ...photos,
    ...accounts,
    ...products,
    ...erasing,
    ...createShopGuards(connections, accounts),
    document,
    hasFeature: (wanted) => features.some(({ name }) => name === wanted),
    wake: () => {
      relay.wake()
      for (const { onAccepted } of extensions) onAccepted?.()
    },
  }
  for (const feature of features) extensions.push(await feature.start(core))

  const recorder = createRequestRecorder({
    requestLog: createRequestLog(backgroundDatabase),
    onDrop: (reason, count) => metrics.requestLogDrops.inc({ reason }, count),
    log,
  })
  lifecycle.onStop('request log', () => recorder.stop())
  const app = createApp({
    log,
    metrics,
    development: isDevelopment(config),
    proxyHops: config.PROXY_HOPS,
    record: recorder.record,
    routes: [
      mount(CORE_ROUTES, {
        ...core,
        ...webhooks,
        consents: createConsents(database),
        openResponse: createOpenResponses(),
        orderReceiptMail: answerOf(extensions, 'orderReceiptMail') ?? refuseReceiptMail,
        signingSecret: config.SIGNING_SECRET,
        document: serveDocument(document),
      }),
      ...extensions.flatMap(({ routes = [] }) => routes),
      startRoutes({
        serviceName: config.SERVICE_NAME,
        publicUrl: config.PUBLIC_URL,
        links: features.flatMap(({ links = [] }) => links),
      }),
      objectRoutes({ storage, signingSecret: config.SIGNING_SECRET }),
    ],
  })

  const listener = extensions.reduce<RequestListener>((next, { before }) => before?.(next) ?? next, app.callback())
  // Only event streams of generations and listeners are still open when the process stops.
  server.serve(listener, () => {
    core.watch.stop()
    webhooks.listenerWatch.stop()
  })
}
