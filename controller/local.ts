import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '../api/shared/contract/schema.ts'
import { createDatabase } from '../api/shared/database/database.ts'
import { createProbeServer } from '../api/shared/network/probes.ts'
import { configure, readConfig, SHARED_VARIABLES } from '../api/shared/process/config.ts'
import { createLifecycle } from '../api/shared/process/lifecycle.ts'
import { createDueObjects } from '../api/shared/retention/due-objects.ts'
import { createLegalHolds } from '../api/shared/retention/legal-holds.store.ts'
import { createReconciling } from '../api/shared/storage/reconcile-daily.ts'
import { createStorage } from '../api/shared/storage/storage.ts'
import { createLog } from '../api/shared/telemetry/log.ts'
import { measureStorage } from '../api/shared/telemetry/measured.ts'
import { createMetrics } from '../api/shared/telemetry/metrics.ts'
import { createRetentionGauges } from './retention/gauges.ts'
import { keepRunning } from './retention/keep-running.ts'
import { holdsOf, readPolicies } from './retention/policies.ts'
import type { RetentionPolicy } from './retention/resource.ts'
import { runPolicy, selectionOf } from './retention/run.ts'
import { startSweeping } from './retention/sweeping.ts'

// The controller without Kubernetes: runs the retention policies of a file, and logs each run.

const SWEEP_SECONDS = 300

const config = configure((env) =>
  readConfig(
    Type.Object({
      DATABASE_URL: SHARED_VARIABLES.DATABASE_URL,
      STORAGE_URL: SHARED_VARIABLES.STORAGE_URL,
      PROBE_PORT: SHARED_VARIABLES.PROBE_PORT,
      PROBE_HOST: SHARED_VARIABLES.PROBE_HOST,
      LOG_LEVEL: SHARED_VARIABLES.LOG_LEVEL,
      RETENTION_FILE: Type.String({ minLength: 1 }),
    }),
    env,
  ),
)
const log = createLog({ process: 'controller', level: config.LOG_LEVEL })
const lifecycle = createLifecycle({ log, graceSeconds: 20 })
const metrics = createMetrics('local-controller')
const policies = readPolicies(await readFile(config.RETENTION_FILE, 'utf8'))
const database = createDatabase(config.DATABASE_URL, { poolSize: 1 })
lifecycle.onStop('database', () => database.end())
const storage = measureStorage(await createStorage(config.STORAGE_URL, { publicUrl: '', signingSecret: '' }), metrics)
lifecycle.onStop('storage', () => storage.close())

const legalHolds = createLegalHolds(database)
const publishHolds = () => legalHolds.publish('file', policies.map(holdsOf))

const gauges = createRetentionGauges(metrics)
const probes = createProbeServer({ log, metrics, checks: {} })
probes.listen(config.PROBE_PORT, config.PROBE_HOST || undefined)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))

const sweeping = startSweeping({
  database,
  storage,
  log,
  everySeconds: SWEEP_SECONDS,
  mayRun: () => true,
  publishHolds,
  onSwept: gauges.noteSweep,
  afterSweep: createReconciling({ database, storage, metrics, log }),
})
lifecycle.onStop('sweeping', () => sweeping.stop())
const stopping = new AbortController()
const dueObjects = createDueObjects(database)
const running = policies.map((policy) =>
  keepRunning(policy, {
    run: () => runOnce(policy),
    measure: () => dueObjects.measure(selectionOf(policy.spec)),
    onFault: (error) =>
      log.warn({ err: error, policy: policy.metadata.name }, 'retention policy could not be evaluated'),
    now: () => new Date(),
    sleep: (ms) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {}),
    signal: stopping.signal,
  }),
)
lifecycle.onStop('policies', () => {
  stopping.abort()
  return Promise.all(running)
})
log.info({ policies: policies.map(({ metadata }) => metadata.name) }, 'watching')

async function runOnce(policy: RetentionPolicy): Promise<void> {
  try {
    await publishHolds()
    const report = await runPolicy(policy, { dueObjects, storage, signal: stopping.signal })
    gauges.noteRun(policy.metadata.name, policy, report)
    log.info({ ...report.record, overdue: report.overdue }, 'swept')
  } catch (error) {
    log.warn({ err: error, policy: policy.metadata.name }, 'retention run failed')
  }
}
