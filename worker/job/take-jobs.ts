import { hostname } from 'node:os'
import { compileParser } from '../../api/shared/contract/schema.ts'
import { createPoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import { PrepareJobSchema, QueuedTryOnSchema } from '../../api/shared/generations/generation.ts'
import { createImageFetcher } from '../../api/shared/network/fetch-image.ts'
import { createHostLookup } from '../../api/shared/network/host-lookup.ts'
import { createProbeServer } from '../../api/shared/network/probes.ts'
import type { Surroundings } from '../../api/shared/process/config.ts'
import { createLifecycle } from '../../api/shared/process/lifecycle.ts'
import { engineQueueName, WORKERS_CHANNEL } from '../../api/shared/queue/engine-queues.ts'
import { createPublish } from '../../api/shared/queue/pub-sub.ts'
import { createConsumer } from '../../api/shared/queue/queue.ts'
import { createRedis, type QueueName } from '../../api/shared/queue/redis.ts'
import { createStorage } from '../../api/shared/storage/storage.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import { measureFetch, measureStorage, zeroStarts } from '../../api/shared/telemetry/measured.ts'
import { createMetrics } from '../../api/shared/telemetry/metrics.ts'
import { startTelemetry } from '../../api/shared/telemetry/telemetry.ts'
import type { EngineManifest } from '../engines/engine.ts'
import { DEVICE_FAULT_REASONS } from '../inference/device-fault.ts'
import { createDeviceHealth } from '../inference/device-health.ts'
import type { FirstProcesses } from '../inference/first-processes.ts'
import { createInferenceHost } from '../inference/host.ts'
import { measureInference } from '../inference/measured.ts'
import { createInferencePool } from '../inference/pool.ts'
import { createLogoLoader } from '../outputs/logo.ts'
import { announceSigningKey, noteSigningKey } from '../outputs/provenance/announce-key.ts'
import { createSignResult } from '../outputs/provenance/provenance.ts'
import { readSigningKey } from '../outputs/provenance/signing-key.ts'
import { createListClient } from '../outputs/safety/list-client.ts'
import { createCachedGarments } from './cached-garments.ts'
import { createWorkerCalls } from './calls.ts'
import type { WorkerConfig } from './config.ts'
import { createHandBack } from './hand-back.ts'
import { prepareUpload } from './prepare.ts'
import { createReadiness } from './readiness.ts'
import { createRecordDetections } from './record-detections.ts'
import { announceWorker, joinPool } from './registry.ts'
import { consumeTryOn } from './run-job.ts'
import { watchQueues } from './watchdog.ts'

/** Max pause, in which another worker can take the job that this worker returned. */
const MAX_PAUSE_MS = 3000
/** Interval at which garments of deleted products are evicted. */
const EVICT_INTERVAL_MS = 15_000
/** Max time for the pool's controller to replace a sick worker. */
const REPLACEMENT_TIMEOUT_MS = 600_000

/** Takes jobs until its host ends. Resolves when the worker has started. */
export async function work(
  config: WorkerConfig,
  { inferenceProgram, firstProcesses }: FirstProcesses,
  { host, lines }: Surroundings,
): Promise<void> {
  const worker = `${hostname()}-${host.pid}`
  const log = createLog({ process: 'worker', level: config.LOG_LEVEL, lines })
  const lifecycle = createLifecycle({ log, graceSeconds: config.DRAIN_SECONDS + 10, host })
  const metrics = createMetrics('worker')
  zeroStarts(metrics, config.ENGINES)
  const telemetry = await startTelemetry({
    service: 'drape-worker',
    env: host.env,
    onFault: (reason) => log.warn({ reason }, 'telemetry export failed'),
  })
  lifecycle.onStop('telemetry', () => telemetry.stop())

  const redis = createRedis(config.REDIS_URL, { role: 'consumer', log })
  lifecycle.onStop('redis', () => redis.close())
  const calls = createWorkerCalls(redis, log)
  const storage = measureStorage(
    await createStorage(config.STORAGE_URL, { publicUrl: config.PUBLIC_URL, signingSecret: '' }),
    metrics,
  )
  lifecycle.onStop('storage', () => storage.close())

  const deviceFaults = metrics.known('reason', DEVICE_FAULT_REASONS, {
    name: 'drape_device_faults_total',
    help: 'Failures of the accelerator of the worker, by reason: DeviceError, OutOfMemory, SelfTestDrift, Hang',
  })
  const health = createDeviceHealth({
    onSick: (sickness) => {
      log.error(sickness, 'worker fenced: its device keeps failing')
      // A restart starts a new process, often on another device. In a pool the controller replaces the pod first.
      const exit = () => lifecycle.stop('the device keeps failing', 1)
      if (config.POOL === '') exit()
      else setTimeout(exit, REPLACEMENT_TIMEOUT_MS).unref()
    },
  })

  let manifests: readonly EngineManifest[] = []
  const readiness = createReadiness()
  const inference = measureInference(
    createInferencePool(
      firstProcesses.map((first) =>
        createInferenceHost({
          ...inferenceProgram,
          first,
          workSeconds: config.WORK_SECONDS,
          startSeconds: config.START_SECONDS,
          hasDevice: config.EXECUTION_PROVIDER !== 'cpu',
          log,
          onReady: ({ seconds, startedAt }, found) => {
            health.noteReady(startedAt)
            manifests = found
            metrics.inferenceStart.observe(seconds)
            readiness.note()
          },
          onRestart: () => metrics.inferenceRestarts.inc(),
          onDeviceFault: (fault) => {
            deviceFaults.inc({ reason: fault.reason })
            health.note(fault)
            // Immediately: the next job is taken as soon as this one is returned.
            readiness.note()
          },
        }),
      ),
      health.assertHealthy,
    ),
    metrics,
  )
  lifecycle.onStop('inference', () => inference.stop())
  metrics.watch(
    {
      name: 'drape_inference_ready',
      help: 'Inference processes that are idle or busy, without those that are starting, by the execution provider that they use',
      labels: ['provider'],
    },
    () => [{ labels: { provider: config.EXECUTION_PROVIDER }, value: inference.countReady() }],
  )
  const cachedGarments = createCachedGarments({ calls, evict: (hashes) => inference.evict(hashes), log })
  const evicting = setInterval(() => cachedGarments.sweep(), EVICT_INTERVAL_MS)
  lifecycle.onStop('evicting', () => clearInterval(evicting))

  const signingKey = await readSigningKey({
    key: config.PROVENANCE_KEY,
    certificates: config.PROVENANCE_CERTIFICATE,
  })
  announceSigningKey(signingKey, log)
  noteSigningKey(signingKey, calls, log)
  const publish = createPublish(redis, log)
  const handBack = createHandBack()
  const parts = {
    worker,
    pauseTaking: async () => {
      // Random: two workers with equal pauses would each receive their own job again and again.
      readiness.pause(MAX_PAUSE_MS * (1 / 3 + (Math.random() * 2) / 3))
      await setTaking()
    },
    isFenced: health.isFenced,
    handBack,
    findWorkersWith: redis.findWorkersWith,
    calls,
    storage,
    inference,
    fetchImage: measureFetch(
      createImageFetcher({
        lookup: createHostLookup({ servers: config.FETCH_DNS_SERVERS }),
        allowCidrs: config.FETCH_ALLOW_CIDRS,
        allowPorts: config.FETCH_ALLOW_PORTS,
        failureCode: 'PRODUCT_IMAGE_FETCH_FAILED',
      }),
      metrics,
    ),
    loadLogo: createLogoLoader(storage),
    signResult: await createSignResult(signingKey),
    askList: config.SAFETY_LIST_URL
      ? createListClient({ url: config.SAFETY_LIST_URL, secret: config.SAFETY_LIST_SECRET })
      : null,
    findWeights: (engine: string) => manifests.find(({ name }) => name === engine)?.weights ?? null,
    cachedGarments,
    recordDetections: createRecordDetections({ calls, log }),
    log,
    metrics,
  }
  const parseTryOn = compileParser(QueuedTryOnSchema)
  const parsePrepare = compileParser(PrepareJobSchema)
  const handlers: Readonly<Record<QueueName, (data: unknown) => Promise<void>>> = {
    'try-on': (data) => consumeTryOn(parseTryOn(data), parts),
    prepare: (data) => prepareUpload(parsePrepare(data), { calls, storage, inference }),
  }
  const refusals: typeof handlers = {
    'try-on': async (data) => {
      const { generationId, attempt } = parseTryOn(data)
      await calls.handBack({ id: generationId, attempt })
    },
    // The waiting upload continues without the result.
    prepare: async () => {},
  }
  const consumers = config.QUEUES.map((name) =>
    createConsumer({
      redis,
      name: name === 'try-on' ? engineQueueName(config.ENGINES) : name,
      concurrency: config.CONCURRENCY,
      handle: ({ data }) => handlers[name](data),
      refuse: ({ data }) => refusals[name](data),
    }),
  )

  const membership =
    config.POOL === ''
      ? null
      : joinPool({
          registry: createPoolRegistry(redis),
          host: config.POD_NAME || hostname(),
          uid: config.POD_UID,
          facts: { slots: config.CONCURRENCY, provider: config.EXECUTION_PROVIDER, engines: config.ENGINES },
          consumers,
          findSickness: health.sickness,
          findDownloadSeconds: inference.downloadSeconds,
          onChange: readiness.note,
          handBack: handBack.now,
          log,
        })
  lifecycle.onStop('membership', () => membership?.leave())
  readiness.require(() => inference.countReady() > 0)
  readiness.require(() => !health.isFenced())
  readiness.require(() => membership?.mayTake() ?? true)
  // Jobs are taken only while a process can run them, so that a crashing process does not consume attempts.
  let taking = false
  const setTaking = async () => {
    const wanted = readiness.mayTake()
    if (wanted === taking) return
    taking = wanted
    await Promise.all(consumers.map((consumer) => consumer.setTaking(wanted)))
  }
  const gate = setInterval(setTaking, 100)
  lifecycle.onStop('gate', () => clearInterval(gate))

  const probes = createProbeServer({
    log,
    metrics,
    isWaiting: () => inference.findWaiting().length > 0,
    checks: {
      redis: () => redis.ping(),
      storage: () => storage.check(),
      inference: async () => {
        health.assertHealthy()
        if (inference.countReady() > 0) return
        const waiting = inference.findWaiting()
        const reason =
          waiting.length > 0 ? `the files of ${waiting.join(', ')} are downloaded` : 'no inference process is ready'
        throw new Error(inference.problem() ?? reason)
      },
    },
  })
  probes.listen(config.PROBE_PORT, config.PROBE_HOST || undefined)
  lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))

  const announcement = announceWorker({
    redis,
    worker,
    queues: config.QUEUES,
    engines: config.ENGINES,
    slots: config.CONCURRENCY,
    canWork: readiness.canWork,
    findManifests: () => (config.QUEUES.includes('try-on') ? manifests : []),
    onArrival: () => publish(WORKERS_CHANNEL, { worker }),
    log,
  })
  lifecycle.onStop('announcement', () => announcement.withdraw())
  readiness.onNote(setTaking)
  readiness.onNote(announcement.renew)
  readiness.note()
  const watchdog = watchQueues({
    redis,
    consumers,
    canWork: readiness.canWork,
    onStuck: (queue) => {
      log.fatal({ queue }, 'jobs are waiting but none is consumed')
      lifecycle.stop('a queue is stuck', 1)
    },
  })
  lifecycle.onStop('watchdog', () => watchdog.stop())
  // Registered last, so stopped first: no new jobs from now on, then the running jobs finish.
  lifecycle.onStop('consumers', () => Promise.all(consumers.map((consumer) => consumer.close())))
  log.info({ worker, queues: config.QUEUES, engines: config.ENGINES }, 'working')
}
