import { createDatabase } from '../api/shared/database/database.ts'
import { createLifecycle } from '../api/shared/process/lifecycle.ts'
import { createRedis } from '../api/shared/queue/redis.ts'
import { createStorage } from '../api/shared/storage/storage.ts'
import { createLog } from '../api/shared/telemetry/log.ts'
import { measureStorage } from '../api/shared/telemetry/measured.ts'
import { createMetrics } from '../api/shared/telemetry/metrics.ts'
import { startTelemetry } from '../api/shared/telemetry/telemetry.ts'
import type { ControllerConfig } from './config.ts'
import { createControllerMetrics } from './metrics.ts'
import { openConnection } from './runtime/connection.ts'

/** Opens what the controller is connected to. The lifecycle closes it in reverse order. */
export async function openConnections(config: ControllerConfig) {
  const log = createLog({ process: 'controller', level: config.LOG_LEVEL })
  const lifecycle = createLifecycle({ log, graceSeconds: 20 })
  const telemetry = await startTelemetry({
    service: 'drape-controller',
    env: process.env,
    onFault: (reason) => log.warn({ reason }, 'telemetry export failed'),
  })
  lifecycle.onStop('telemetry', () => telemetry.stop())
  const figures = createMetrics('controller')
  const database = createDatabase(config.DATABASE_URL, { poolSize: 4 })
  lifecycle.onStop('database', () => database.end())
  const redis = createRedis(config.REDIS_URL, { role: 'producer', log })
  lifecycle.onStop('redis', () => redis.close())
  const storage = measureStorage(await createStorage(config.STORAGE_URL, { publicUrl: '', signingSecret: '' }), figures)
  lifecycle.onStop('storage', () => storage.close())
  const connection = openConnection()
  lifecycle.onStop('connection', () => connection.close())
  return { log, lifecycle, figures, metrics: createControllerMetrics(figures), database, redis, storage, connection }
}
