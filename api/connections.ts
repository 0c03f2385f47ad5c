import type { ApiConfig } from './config.ts'
import { createDatabase } from './shared/database/database.ts'
import type { Surroundings } from './shared/process/config.ts'
import { createLifecycle } from './shared/process/lifecycle.ts'
import { createSubscriptions } from './shared/queue/pub-sub.ts'
import { createRedis } from './shared/queue/redis.ts'
import type { SecretBox } from './shared/signing/secret-box.ts'
import { createStorage } from './shared/storage/storage.ts'
import { createLog } from './shared/telemetry/log.ts'
import { measureStorage, watchConnections } from './shared/telemetry/measured.ts'
import { createMetrics } from './shared/telemetry/metrics.ts'
import { startTelemetry } from './shared/telemetry/telemetry.ts'

/** What all parts of the process share. */
export type Connections = Awaited<ReturnType<typeof openConnections>>

/** Opens the connections of the process and registers their ends. */
export async function openConnections(config: ApiConfig, secrets: SecretBox, { host, lines }: Surroundings) {
  const log = createLog({ process: 'api', level: config.LOG_LEVEL, lines })
  const lifecycle = createLifecycle({ log, graceSeconds: 20, host })
  const metrics = createMetrics('api')
  const telemetry = await startTelemetry({
    service: 'drape-api',
    env: host.env,
    onFault: (reason) => log.warn({ reason }, 'telemetry export failed'),
  })
  lifecycle.onStop('telemetry', () => telemetry.stop())
  const database = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL, secrets })
  lifecycle.onStop('database', () => database.end())
  watchConnections(database, metrics)
  // Separate connections: callers never wait for deliveries, receipts and other work in the background.
  const backgroundDatabase = createDatabase(config.DATABASE_URL, { poolSize: 2, secrets })
  lifecycle.onStop('background database', () => backgroundDatabase.end())
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
    .catch((error) =>
      log.error({ err: error }, 'the storage cannot delete objects: erasures and retention wait for it'),
    )
  return { config, secrets, log, lifecycle, metrics, database, backgroundDatabase, redis, subscriptions, storage }
}
