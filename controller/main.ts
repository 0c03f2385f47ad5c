import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { createPoolRegistry } from '../api/shared/engines/pool-registry.ts'
import { DEMAND_CHANNEL } from '../api/shared/generations/generation.ts'
import { createProbeServer } from '../api/shared/network/probes.ts'
import { useProxies } from '../api/shared/network/proxies.ts'
import { configure } from '../api/shared/process/config.ts'
import { createLegalHolds } from '../api/shared/retention/legal-holds.store.ts'
import { createReconciling } from '../api/shared/storage/reconcile-daily.ts'
import { readControllerConfig } from './config.ts'
import { openConnections } from './connections.ts'
import { startEnginePublishing } from './engine/publishing.ts'
import { createEngineReconcile } from './engine/reconcile.ts'
import { listenDatabase } from './listen-database.ts'
import { createRetentionControllers } from './retention/controllers.ts'
import { createRetentionGauges } from './retention/gauges.ts'
import { createPublishHolds } from './retention/holds.ts'
import { startSweeping } from './retention/sweeping.ts'
import { createClient } from './runtime/client.ts'
import { type Controllers, startControllers } from './runtime/controllers.ts'
import { createEventRecorder } from './runtime/events.ts'
import { FIELD_MANAGER } from './runtime/field-manager.ts'
import { createReportInvalid } from './runtime/invalid-object.ts'
import { startElection } from './runtime/leader.ts'
import { createPolicyReconcile } from './scaling-policy/reconcile.ts'
import { type Cluster, watchCluster } from './watching/cluster.ts'
import { createPoolController } from './worker-pool/controller.ts'
import { readDemand } from './worker-pool/demand/demand.ts'
import { createDemandPage } from './worker-pool/demand/demand-page.ts'
import { createPoolSampler } from './worker-pool/demand/sampler.ts'
import { createPoolGauges } from './worker-pool/status/gauges.ts'

/** Retention policies delete images at their expiration time. The sweep deletes images that no policy covers. */
const SWEEP_GRACE_SECONDS = 3600
const MEASURE_MS = 5000

configure(useProxies)
const config = configure(readControllerConfig)
const identity = `${hostname()}-${randomBytes(4).toString('hex')}`
const { log, lifecycle, figures, metrics, database, redis, storage, connection } = await openConnections(config)
const now = () => new Date()

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
const reportInvalid = createReportInvalid({ client, record, now })
const cluster: Cluster = watchCluster({
  connection,
  namespace: config.WATCH_NAMESPACE || undefined,
  mayWatchNodes: config.WATCH_NODES === 'true',
  enqueue: (kind, key, ms) => controllers.enqueue(kind, key, ms),
  log,
})
lifecycle.onStop('cluster', () => cluster.close())

// Write access to policies is control over images of all accounts: another namespace must not grant it.
const namespace = config.WATCH_NAMESPACE || config.LEASE_NAMESPACE || connection.namespace
const registry = createPoolRegistry(redis)
const sampler = createPoolSampler({
  redis,
  registry,
  readDemand: (countPrepare) => readDemand(database, countPrepare),
  onFault: (part, error) => {
    metrics.staleSamples.inc({ part })
    log.debug({ err: error, part }, 'sampling failed')
  },
})
const gauges = { pools: createPoolGauges(figures), retention: createRetentionGauges(figures) }
const publishHolds = createPublishHolds({
  legalHolds: createLegalHolds(database),
  policies: () => cluster.retention.list().filter(({ metadata }) => metadata.namespace === namespace),
  record,
  gauges: gauges.retention,
})
const publishing = startEnginePublishing({
  database,
  log,
  now,
  engines: cluster.engines,
  pools: cluster.pools,
  policies: cluster.policies,
  // Before all objects are listed, a pool or an engine could be missing.
  mayPublish: () => election.isLeader() && controllers.areSynced('WorkerPool', 'Engine', 'ScalingPolicy'),
})
lifecycle.onStop('publishing', () => publishing.stop())

const pools = createPoolController({
  cluster,
  client,
  record,
  reportInvalid,
  registry,
  sample: sampler.sample,
  metrics,
  gauges: gauges.pools,
  onStarted: publishing.noteStart,
  now,
})
const controllers: Controllers = startControllers(
  [
    pools.controller,
    {
      kind: 'Engine',
      objects: cluster.engines,
      synced: cluster.synced.Engine,
      reconcile: createEngineReconcile({ client, reportInvalid, ...cluster, now }),
    },
    {
      kind: 'ScalingPolicy',
      objects: cluster.policies,
      synced: cluster.synced.ScalingPolicy,
      reconcile: createPolicyReconcile({ client, reportInvalid, ...cluster, now }),
    },
    ...createRetentionControllers({
      cluster,
      client,
      reportInvalid,
      database,
      storage,
      gauges: gauges.retention,
      publishHolds,
      namespace,
      now,
    }),
  ],
  { isLeader: election.isLeader, concurrency: config.CONCURRENCY, metrics, log },
)

const listening = listenDatabase(config.DATABASE_DIRECT_URL, DEMAND_CHANNEL, {
  onNotify: () => {
    sampler.renew()
    pools.askAll((key) => controllers.enqueue('WorkerPool', key))
  },
  onFault: (error) => log.warn({ err: error }, 'no notifications of new work: polling instead'),
})
lifecycle.onStop('listening', () => listening.stop())

const sweeping = startSweeping({
  database,
  storage,
  log,
  everySeconds: config.SWEEP_SECONDS,
  graceSeconds: SWEEP_GRACE_SECONDS,
  // Holds can only be published then.
  mayRun: () => controllers.areSynced('RetentionPolicy') && election.isLeader(),
  publishHolds,
  onSwept: gauges.retention.noteSweep,
  afterSweep: createReconciling({ database, storage, metrics: figures, log }),
})
lifecycle.onStop('sweeping', () => sweeping.stop())

const probes = createProbeServer({
  log,
  metrics: figures,
  pages: {
    '/demand': createDemandPage({
      ...cluster,
      sample: sampler.sample,
      isListed: () => controllers.areSynced('WorkerPool', 'Engine'),
      now,
    }),
  },
  checks: {
    cluster: async () => {
      if (!controllers.areSynced('WorkerPool')) throw new Error('the objects have not been listed yet')
    },
  },
})
probes.listen(config.PROBE_PORT, config.PROBE_HOST || undefined)
lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
const measuring = setInterval(() => {
  metrics.listening.set(listening.isListening() ? 1 : 0)
  controllers.measureDepths()
}, MEASURE_MS)
lifecycle.onStop('measuring', () => clearInterval(measuring))
lifecycle.onStop('election', () => election.stop())
// Registered last, so stopped first: running reconciles finish before the Lease is released.
lifecycle.onStop('controllers', () => controllers.close())
log.info({ identity }, 'watching')

function lead(leading: boolean): void {
  log.info({ leading }, leading ? 'became leader' : 'lost leadership')
  metrics.leader.set(leading ? 1 : 0)
  controllers.setLeading(leading)
}
