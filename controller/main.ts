import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { createDatabase, listenDatabase } from '../api/shared/database.ts'
import { DEMAND_CHANNEL } from '../api/shared/generation.ts'
import { createLifecycle } from '../api/shared/lifecycle.ts'
import { createLog } from '../api/shared/log.ts'
import { measureStorage } from '../api/shared/measured.ts'
import { createMetrics } from '../api/shared/metrics.ts'
import { createPoolRegistry } from '../api/shared/pool-registry.ts'
import { createProbeServer } from '../api/shared/probes.ts'
import { createRedis } from '../api/shared/redis.ts'
import { createStorage } from '../api/shared/storage/storage.ts'
import { createDueObjects } from '../api/shared/stores/due-objects.ts'
import { readControllerConfig } from './config.ts'
import { GROUP } from './custom-resource.ts'
import { createEngineReconcile } from './engine/reconcile.ts'
import { createReportInvalid } from './invalid-object.ts'
import { type Cluster, FIELD_MANAGER, watchCluster } from './kubernetes.ts'
import { createControllerMetrics } from './metrics.ts'
import { createRetentionGauges } from './retention/gauges.ts'
import { findHolds } from './retention/policies.ts'
import { createRetentionReconcile } from './retention/reconcile.ts'
import { runPolicy } from './retention/run.ts'
import { startSweeping } from './retention/sweeping.ts'
import { createApplyOnce } from './runtime/apply-once.ts'
import { createClient } from './runtime/client.ts'
import { openConnection } from './runtime/connection.ts'
import { createEventRecorder } from './runtime/events.ts'
import { startElection } from './runtime/leader.ts'
import { createLoop, type Loop } from './runtime/loop.ts'
import type { KubernetesObject } from './runtime/resource.ts'
import { createPolicyReconcile } from './scaling-policy/reconcile.ts'
import { createDecisionTimes } from './worker-pool/decision-times.ts'
import { readDemand } from './worker-pool/demand.ts'
import { createPoolGauges } from './worker-pool/gauges.ts'
import { createPoolReconcile } from './worker-pool/reconcile.ts'
import { createSampler } from './worker-pool/sampler.ts'

const config = readControllerConfig(process.env)
const identity = `${hostname()}-${randomBytes(4).toString('hex')}`
const log = createLog({ process: 'controller', level: config.LOG_LEVEL })
const lifecycle = createLifecycle({ log, graceSeconds: 20 })
const figures = createMetrics('controller')
const metrics = createControllerMetrics(figures)
const poolGauges = createPoolGauges(figures)
const retentionGauges = createRetentionGauges(figures)

const database = createDatabase(config.DATABASE_URL, { poolSize: 4 })
lifecycle.onStop('database', () => database.end())
const redis = createRedis(config.REDIS_URL, { role: 'producer', log })
lifecycle.onStop('redis', () => redis.close())
const storage = measureStorage(await createStorage(config.STORAGE_URL, { publicUrl: '', signingSecret: '' }), figures)
lifecycle.onStop('storage', () => storage.close())
const connection = openConnection({ env: process.env })
lifecycle.onStop('connection', () => connection.close())

// Reading and the Lease itself need no office; every other write passes the fence.
const election = startElection({
  client: createClient(connection, { fieldManager: FIELD_MANAGER }),
  lease: { namespace: config.LEASE_NAMESPACE || connection.namespace, name: config.LEASE_NAME },
  identity,
  leaseSeconds: config.LEASE_SECONDS,
  renewSeconds: (config.LEASE_SECONDS * 2) / 3,
  retrySeconds: (config.LEASE_SECONDS * 2) / 15,
  onElected: () => lead(true),
  onLost: () => lead(false),
  onFault: (error) => log.warn({ err: error }, 'the lease could not be renewed'),
})
const client = createClient(connection, {
  fieldManager: FIELD_MANAGER,
  fence: election.fence,
  // What is decided next has to know what was written last.
  onWritten: (type, object) => cluster.note(type, object),
})
const record = createEventRecorder({
  client,
  component: 'drape-controller',
  instance: identity,
  onFault: (error) => log.debug({ err: error }, 'event not written'),
})

const registry = createPoolRegistry(redis)
const sampler = createSampler({
  readDemand: () => readDemand(database),
  registry: {
    ...registry,
    findWorkers: async () => {
      // It would wait for Redis to come back.
      if (!redis.isReady()) throw new Error('Redis is away')
      return registry.findWorkers()
    },
  },
  onFault: (part, error) => {
    metrics.staleSamples.inc({ part })
    log.debug({ err: error, part }, 'not read')
  },
})

const decisionTimes = createDecisionTimes((seconds) => metrics.decisionSeconds.observe(seconds))
type Task = keyof typeof KINDS
const KINDS = { pool: 'WorkerPool', engine: 'Engine', policy: 'ScalingPolicy', retention: 'RetentionPolicy' } as const
/** What can be done: a kind that is not there or may not be seen keeps only what needs it from being done. */
const synced = new Set<Task>()
const loops: Record<Task, Loop> = {
  pool: loop(
    KINDS.pool,
    () => cluster.pools,
    async (key, failures) => {
      const noteDecision = decisionTimes.begin(key)
      const done = await reconcilePool(key, failures)
      noteDecision()
      return done
    },
  ),
  engine: loop(
    KINDS.engine,
    () => cluster.engines,
    (key, failures) => reconcileEngine(key, failures),
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
}
const cluster: Cluster = watchCluster({
  connection,
  namespace: config.WATCH_NAMESPACE || undefined,
  mayWatchNodes: config.WATCH_NODES === 'true',
  interested: {
    pool: loops.pool.add,
    engine: loops.engine.add,
    policy: loops.policy.add,
    retention: (key) => {
      retention.noteChange(key)
      loops.retention.add(key)
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
const retention = createRetentionReconcile({
  client,
  reportInvalid,
  policies: cluster.retention,
  run: (policy, signal) => runPolicy(policy, { dueObjects: createDueObjects(database), storage, signal }),
  now,
  gauges: retentionGauges,
})
const reconcilePool = createPoolReconcile({
  client,
  applyOnce: createApplyOnce(client, { annotation: `${GROUP}/applied` }),
  record,
  reportInvalid,
  registry,
  sample: sampler.sample,
  ...cluster,
  now,
  onDecision: ({ direction }) => metrics.decisions.inc({ direction }),
  onWrongVictim: () => metrics.wrongVictims.inc(),
  onStarted: (seconds) => metrics.workerStart.observe(seconds),
  gauges: poolGauges,
})

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
  ...{ database, storage, log },
  everySeconds: config.SWEEP_SECONDS,
  // What is held is known only then.
  mayRun: () => synced.has('retention') && election.isLeader(),
  holds: () => findHolds(cluster.retention.list()),
  onSwept: retentionGauges.noteSweep,
})
lifecycle.onStop('sweeping', () => sweeping.stop())

for (const task of Object.keys(KINDS) as Task[])
  cluster.synced[task].then(() => {
    synced.add(task)
    loops[task].setLeading(election.isLeader())
  })
const probes = createProbeServer({
  metrics: figures,
  checks: {
    cluster: async () => {
      if (!synced.has('pool')) throw new Error('the objects have not been listed yet')
    },
  },
})
probes.listen(config.PROBE_PORT)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
const measuring = setInterval(() => {
  cluster.measureAges()
  for (const name of Object.keys(KINDS) as Task[])
    metrics.reconcileDepth.set({ kind: KINDS[name] }, loops[name].depth())
}, 5000)
lifecycle.onStop('measuring', () => clearInterval(measuring))
lifecycle.onStop('election', () => election.stop())
// Last registered, first undone: what is under way ends before the office is given back.
lifecycle.onStop('loops', () => {
  retention.stopAll()
  return Promise.all(Object.values(loops).map((each) => each.close()))
})
log.info({ identity }, 'watching')

function lead(leading: boolean): void {
  log.info({ leading }, leading ? 'leads' : 'stands by')
  metrics.leader.set(leading ? 1 : 0)
  for (const told of [poolGauges, retentionGauges, decisionTimes]) told.forgetAll()
  // Until everything was listed, what is missing could only not have been seen yet.
  for (const task of Object.keys(KINDS) as Task[]) loops[task].setLeading(leading && synced.has(task))
}

function loop(
  kind: string,
  watched: () => { list(): readonly KubernetesObject[] },
  reconcile: Parameters<typeof createLoop>[0]['reconcile'],
) {
  for (const outcome of ['done', 'again', 'failed']) metrics.reconciles.zero({ kind, outcome })
  return createLoop({
    reconcile,
    concurrency: config.CONCURRENCY,
    keys: () =>
      watched()
        .list()
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    onFailure: (key, error, failures) => log.warn({ err: error, kind, key, failures }, 'could not be reconciled'),
    onDone: (_, seconds, outcome) => metrics.reconciles.observe({ kind, outcome }, seconds),
  })
}
