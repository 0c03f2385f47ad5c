import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { createDatabase } from '../api/shared/database/database.ts'
import { createPoolRegistry } from '../api/shared/engines/pool-registry.ts'
import { DEMAND_CHANNEL } from '../api/shared/generations/generation.ts'
import { createProbeServer } from '../api/shared/network/probes.ts'
import { configure } from '../api/shared/process/config.ts'
import { createLifecycle } from '../api/shared/process/lifecycle.ts'
import { createRedis } from '../api/shared/queue/redis.ts'
import { createDueObjects } from '../api/shared/retention/due-objects.ts'
import { createLegalHolds } from '../api/shared/retention/legal-holds.store.ts'
import { createStorage } from '../api/shared/storage/storage.ts'
import { createReconciling } from '../api/shared/storage/storage-reconciling.ts'
import { createLog } from '../api/shared/telemetry/log.ts'
import { measureStorage } from '../api/shared/telemetry/measured.ts'
import { createMetrics } from '../api/shared/telemetry/metrics.ts'
import { startTelemetry, withLateSpan } from '../api/shared/telemetry/telemetry.ts'
import { readControllerConfig } from './config.ts'
import { GROUP } from './definitions/custom-resource.ts'
import { startEnginePublishing } from './engine/publishing.ts'
import { createEngineReconcile } from './engine/reconcile.ts'
import { listenDatabase } from './listen-database.ts'
import { createControllerMetrics } from './metrics.ts'
import { createRetentionGauges } from './retention/gauges.ts'
import { createPublishHolds } from './retention/holds.ts'
import { createRetentionReconcile } from './retention/reconcile.ts'
import { createWriteRecord } from './retention/records.ts'
import { createRequestedSweeps } from './retention/requested-sweep.ts'
import type { RetentionPolicy } from './retention/resource.ts'
import { runPolicy } from './retention/run.ts'
import { startSweeping } from './retention/sweeping.ts'
import { createApplyOnce } from './runtime/apply-once.ts'
import { createClient } from './runtime/client.ts'
import { openConnection } from './runtime/connection.ts'
import { createEventRecorder } from './runtime/events.ts'
import { FIELD_MANAGER } from './runtime/field-manager.ts'
import { createReportInvalid } from './runtime/invalid-object.ts'
import { type Cluster, watchCluster } from './runtime/kubernetes.ts'
import { startElection } from './runtime/leader.ts'
import { type KubernetesObject, keyOf } from './runtime/resource.ts'
import { createReportReverted } from './runtime/reverted-edits.ts'
import { createWorkQueue, type WorkQueue, type WorkQueueOptions } from './runtime/work-queue.ts'
import { createPolicyReconcile } from './scaling-policy/reconcile.ts'
import { createDecisionTimes } from './worker-pool/decision-times.ts'
import { readDemand } from './worker-pool/demand.ts'
import { createDemandPage } from './worker-pool/demand-page.ts'
import { createPoolGauges } from './worker-pool/gauges.ts'
import { START_PHASES } from './worker-pool/pods.ts'
import { createPoolReconcile } from './worker-pool/reconcile.ts'
import { createSampler } from './worker-pool/sampler.ts'

/** Retention policies delete images at their expiration time. The sweep deletes images that no policy covers. */
const SWEEP_GRACE_SECONDS = 3600

const config = configure(readControllerConfig)
const identity = `${hostname()}-${randomBytes(4).toString('hex')}`
const log = createLog({ process: 'controller', level: config.LOG_LEVEL })
const lifecycle = createLifecycle({ log, graceSeconds: 20 })
const telemetry = await startTelemetry({
  service: 'drape-controller',
  env: process.env,
  onFault: (reason) => log.warn({ reason }, 'telemetry export failed'),
})
lifecycle.onStop('telemetry', () => telemetry.stop())
const figures = createMetrics('controller')
const metrics = createControllerMetrics(figures)
for (const phase of START_PHASES) metrics.workerStartPhase.zero({ phase })
const poolGauges = createPoolGauges(figures)
const retentionGauges = createRetentionGauges(figures)

const database = createDatabase(config.DATABASE_URL, { poolSize: 4 })
lifecycle.onStop('database', () => database.end())
const redis = createRedis(config.REDIS_URL, { role: 'producer', log })
lifecycle.onStop('redis', () => redis.close())
const storage = measureStorage(await createStorage(config.STORAGE_URL, { publicUrl: '', signingSecret: '' }), figures)
lifecycle.onStop('storage', () => storage.close())
const connection = openConnection()
lifecycle.onStop('connection', () => connection.close())

// Reads and the Lease itself need no leadership; every other write passes the fence.
const election = startElection({
  client: createClient(connection, { fieldManager: FIELD_MANAGER }),
  lease: { namespace: config.LEASE_NAMESPACE || connection.namespace, name: config.LEASE_NAME },
  identity,
  leaseSeconds: config.LEASE_SECONDS,
  renewSeconds: (config.LEASE_SECONDS * 2) / 3,
  retrySeconds: (config.LEASE_SECONDS * 2) / 15,
  onElected: () => lead(true),
  onLost: () => lead(false),
  onFault: (error) => log.warn({ err: error }, 'lease renewal failed'),
})
const client = createClient(connection, {
  fieldManager: FIELD_MANAGER,
  fence: election.fence,
  // The next decision must know the last write.
  onWritten: (type, object) => cluster.note(type, object),
})
const record = createEventRecorder({
  client,
  component: 'drape-controller',
  instance: identity,
  onFault: (error) => log.debug({ err: error }, 'event not written'),
})

const registry = createPoolRegistry(redis)
/** Returns 0 while Redis is unavailable, because no worker can prepare a photo then. */
const countPrepare = async () =>
  redis.isReady() ? redis.countJobs('prepare').catch(() => ({ waiting: 0, inFlight: 0 })) : { waiting: 0, inFlight: 0 }
const sampler = createSampler({
  readDemand: () => readDemand(database, countPrepare),
  registry: {
    ...registry,
    findWorkers: async () => {
      // Fail fast: the call would otherwise wait for Redis.
      if (!redis.isReady()) throw new Error('Redis is unavailable')
      return registry.findWorkers()
    },
  },
  onFault: (part, error) => {
    metrics.staleSamples.inc({ part })
    log.debug({ err: error, part }, 'sampling failed')
  },
})

const decisionTimes = createDecisionTimes((seconds) => metrics.decisionSeconds.observe(seconds))
type Task = keyof typeof KINDS
const KINDS = {
  pool: 'WorkerPool',
  engine: 'Engine',
  policy: 'ScalingPolicy',
  retention: 'RetentionPolicy',
  sweep: 'Sweep',
} as const
/** Tasks whose objects have been listed. A kind that does not exist or cannot be read disables only the tasks that need it. */
const synced = new Set<Task>()
const loops: Record<Task, WorkQueue> = {
  pool: loop(
    KINDS.pool,
    () => cluster.pools,
    async (key, failures) => {
      const noteDecision = decisionTimes.begin(key)
      const done = await pools.reconcile(key, failures)
      noteDecision()
      return done
    },
  ),
  engine: loop(
    KINDS.engine,
    () => cluster.engines,
    (key) => reconcileEngine(key),
  ),
  policy: loop(
    KINDS.policy,
    () => cluster.policies,
    (key) => reconcilePolicy(key),
  ),
  retention: loop(
    KINDS.retention,
    () => cluster.retention,
    (key) => retention.reconcile(key),
  ),
  sweep: loop(
    KINDS.sweep,
    () => cluster.sweeps,
    (key) => requestedSweeps.reconcile(key),
  ),
}
const cluster: Cluster = watchCluster({
  connection,
  namespace: config.WATCH_NAMESPACE || undefined,
  mayWatchNodes: config.WATCH_NODES === 'true',
  enqueue: {
    pool: loops.pool.add,
    engine: loops.engine.add,
    policy: loops.policy.add,
    retention: (key) => {
      retention.noteChange(key)
      requestedSweeps.noteChange()
      loops.retention.add(key)
    },
    sweep: (key) => {
      requestedSweeps.noteChange()
      loops.sweep.add(key)
    },
  },
  log,
  metrics,
})
lifecycle.onStop('cluster', () => cluster.close())

const now = () => new Date()
const reportInvalid = createReportInvalid({ client, record, now })
const reconcileEngine = createEngineReconcile({ client, reportInvalid, ...cluster, now })
const reconcilePolicy = createPolicyReconcile({
  client,
  reportInvalid,
  policies: cluster.policies,
  pools: cluster.pools,
  now,
})
// Write access to policies is control over images of all accounts: another namespace must not grant it.
const ownNamespace = config.WATCH_NAMESPACE || config.LEASE_NAMESPACE || connection.namespace
const publishHolds = createPublishHolds({
  legalHolds: createLegalHolds(database),
  policies: () => cluster.retention.list().filter(({ metadata }) => metadata.namespace === ownNamespace),
  record,
  gauges: retentionGauges,
})
const runs = {
  client,
  publishHolds,
  now,
  gauges: retentionGauges,
  policies: cluster.retention,
  run: (policy: RetentionPolicy, signal: AbortSignal) =>
    runPolicy(policy, { dueObjects: createDueObjects(database), storage, signal }),
  writeRecord: createWriteRecord(client),
  namespace: ownNamespace,
}
const retention = createRetentionReconcile({ ...runs, reportInvalid })
const requestedSweeps = createRequestedSweeps({ ...runs, sweeps: cluster.sweeps })
const reportReverted = createReportReverted(record)
const pools = createPoolReconcile({
  client,
  reportReverted,
  applyOnce: createApplyOnce(client, { annotation: `${GROUP}/applied`, onReverted: reportReverted }),
  record,
  reportInvalid,
  registry,
  sample: sampler.sample,
  ...cluster,
  now,
  onDecision: ({ direction }) => metrics.decisions.inc({ direction }),
  onWrongVictim: () => metrics.wrongVictims.inc(),
  onStarted: (seconds, pool, phases) => {
    metrics.workerStart.observe(seconds)
    for (const phase of START_PHASES) {
      const phaseSeconds = phases?.[phase]
      if (phaseSeconds !== undefined) metrics.workerStartPhase.observe({ phase }, phaseSeconds)
    }
    publishing.noteStart(pool, seconds)
  },
  gauges: poolGauges,
})

const publishing = startEnginePublishing({
  database,
  log,
  now,
  engines: cluster.engines,
  pools: cluster.pools,
  policies: cluster.policies,
  // Before all objects are listed, a pool or an engine could be missing.
  mayPublish: () => election.isLeader() && (['pool', 'engine', 'policy'] as const).every((task) => synced.has(task)),
})
lifecycle.onStop('publishing', () => publishing.stop())

const listening = listenDatabase(config.DATABASE_URL, DEMAND_CHANNEL, () => {
  sampler.renew()
  for (const { metadata } of cluster.pools.list()) {
    const key = `${metadata.namespace}/${metadata.name}`
    decisionTimes.ask(key)
    loops.pool.add(key)
  }
})
lifecycle.onStop('listening', () => listening.stop())

const sweeping = startSweeping({
  database,
  storage,
  log,
  everySeconds: config.SWEEP_SECONDS,
  graceSeconds: SWEEP_GRACE_SECONDS,
  // Holds can only be published then.
  mayRun: () => synced.has('retention') && election.isLeader(),
  publishHolds,
  onSwept: retentionGauges.noteSweep,
  afterSweep: createReconciling({
    database,
    storage,
    metrics: figures,
    log,
    everyHours: config.RECONCILE_HOURS,
  }),
})
lifecycle.onStop('sweeping', () => sweeping.stop())

for (const task of Object.keys(KINDS) as Task[])
  cluster.synced[task].then(() => {
    synced.add(task)
    loops[task].setLeading(election.isLeader())
  })
const demandPage = createDemandPage({
  ...cluster,
  sample: sampler.sample,
  isListed: () => synced.has('pool') && synced.has('engine'),
  now,
})
const probes = createProbeServer({
  log,
  metrics: figures,
  pages: { '/demand': demandPage },
  checks: {
    cluster: async () => {
      if (!synced.has('pool')) throw new Error('the objects have not been listed yet')
    },
  },
})
probes.listen(config.PROBE_PORT, config.PROBE_HOST || undefined)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
const measuring = setInterval(() => {
  cluster.measureAges()
  for (const name of Object.keys(KINDS) as Task[])
    metrics.reconcileDepth.set({ kind: KINDS[name] }, loops[name].depth())
}, 5000)
lifecycle.onStop('measuring', () => clearInterval(measuring))
lifecycle.onStop('election', () => election.stop())
// Registered last, so stopped first: running reconciles finish before the Lease is released.
lifecycle.onStop('loops', () => {
  retention.stopAll()
  requestedSweeps.stopAll()
  return Promise.all(Object.values(loops).map((each) => each.close()))
})
log.info({ identity }, 'watching')

function lead(leading: boolean): void {
  log.info({ leading }, leading ? 'became leader' : 'lost leadership')
  metrics.leader.set(leading ? 1 : 0)
  for (const memory of [pools, poolGauges, retentionGauges, decisionTimes]) memory.forgetAll()
  // Until all objects are listed, an object that seems missing may only be unread.
  for (const task of Object.keys(KINDS) as Task[]) loops[task].setLeading(leading && synced.has(task))
}

function loop(
  kind: string,
  watched: () => { list(): readonly KubernetesObject[] },
  reconcile: WorkQueueOptions['reconcile'],
) {
  for (const outcome of ['done', 'again', 'failed']) metrics.reconciles.zero({ kind, outcome })
  return createWorkQueue({
    // Most passes are no-ops; only passes that write or fail are recorded.
    reconcile: (key, failures) =>
      withLateSpan(`reconcile ${kind}`, { 'drape.object': key, 'drape.reconcile.failures': failures }, () =>
        reconcile(key, failures),
      ),
    concurrency: config.CONCURRENCY,
    keys: () =>
      watched()
        .list()
        .map(({ metadata }) => keyOf(metadata)),
    onFailure: (key, error, failures) => log.warn({ err: error, kind, key, failures }, 'reconciliation failed'),
    onDone: (_, seconds, outcome) => metrics.reconciles.observe({ kind, outcome }, seconds),
  })
}
