import type { Connections } from '../config.ts'
import { TEST_ENGINE } from '../shared/contract/test-mode.ts'
import { createEngineCards } from '../shared/engines/engine-cards.ts'
import { generationChannel, type PrepareJob } from '../shared/generations/generation.ts'
import { createGenerations } from '../shared/generations/generations.store.ts'
import { WORKERS_CHANNEL } from '../shared/queue/engine-queues.ts'
import { createPublish } from '../shared/queue/pub-sub.ts'
import { createJobQueue } from '../shared/queue/queue.ts'
import { createRedis } from '../shared/queue/redis.ts'
import { countEnds } from '../shared/telemetry/measured.ts'
import { activeTraceparent } from '../shared/telemetry/telemetry.ts'
import { acceptTogether } from './accept-together.ts'
import { type Acceptance, acceptGenerations, acceptOutfit, type OutfitAcceptance } from './acceptance.store.ts'
import { createBacklog } from './backlog.store.ts'
import { createBacklogGauges } from './backlog-gauges.ts'
import { createEngineChoice } from './engines/choice.ts'
import { createEngineDirectory } from './engines/directory.ts'
import { createPublishedEngines } from './engines/published-engines.store.ts'
import { createWaitEstimate } from './engines/wait-estimate.ts'
import { createWaiting } from './engines/waiting.store.ts'
import { findTogether } from './find-together.ts'
import { type AppealUrlOf, createGenerationView } from './generations.view.ts'
import { createOutbox } from './outbox.store.ts'
import { createRelay, type Relay } from './relay.ts'
import { createTryOnQueues } from './try-on-queues.ts'
import { createGenerationWatch } from './watch.ts'
import { serveWorkerCalls } from './worker-calls.ts'
import { createWorkerOperations } from './worker-operations.ts'

export type TryOns = ReturnType<typeof createTryOns>

/** Creates the parts of try-ons; none of them dispatches anything. */
export function createTryOns(
  { config, database, redis, subscriptions, storage, lifecycle, log, metrics }: Connections,
  { appealUrlOf }: { readonly appealUrlOf: AppealUrlOf },
) {
  const tryOnQueues = createTryOnQueues(redis)
  lifecycle.onStop('try-on queues', () => tryOnQueues.close())
  const prepareQueue = createJobQueue<PrepareJob>({ redis, name: 'prepare', awaits: true })
  lifecycle.onStop('prepare queue', () => prepareQueue.close())
  const engines = createEngineDirectory({
    redis,
    cards: createEngineCards(redis),
    published: createPublishedEngines(database),
    configured: [config.DEFAULT_ENGINE, ...config.ENGINES],
    now: () => performance.timeOrigin + performance.now(),
  })
  const publish = createPublish(redis, log)
  const announce = countEnds((change) => publish(generationChannel(change.id), change), metrics)
  const stored = createGenerations(database, announce)
  const generations = { ...stored, find: findTogether(stored.findMany) }
  const estimate = createWaitEstimate({ waiting: createWaiting(database), listEngines: engines.list })
  const choice = createEngineChoice({
    engines,
    estimateWait: estimate.ofCall,
    installation: config.DEFAULT_ENGINE,
  })
  const acceptOne = acceptTogether((calls) => acceptGenerations(database, calls))
  return {
    tryOnQueues,
    prepareQueue,
    engines,
    announce,
    publish,
    generations,
    appealUrlOf,
    watch: createGenerationWatch({ generations, subscriptions }),
    estimateWait: estimate.ofCall,
    chooseEngine: choice.choose,
    defaultEngineOf: choice.defaultOf,
    present: createGenerationView({ storage, estimateWait: estimate.ofGeneration, appealUrlOf }),
    /** As `accept`. */
    acceptOutfit: async (call: OutfitAcceptance): Promise<boolean> => {
      const waitedSeconds = (performance.now() - (call.receivedAt ?? performance.now())) / 1000
      const isNew = await acceptOutfit(database, { ...call, traceparent: activeTraceparent(), waitedSeconds })
      if (isNew && call.engine !== TEST_ENGINE) metrics.accepted.inc()
      return isNew
    },
    /** False when the generation was accepted before. */
    accept: async (call: Acceptance): Promise<boolean> => {
      const isNew = await acceptOne(call)
      if (isNew && call.engine !== TEST_ENGINE) metrics.accepted.inc()
      return isNew
    },
  }
}

/** Dispatches accepted try-ons to workers, executes the calls of workers, and measures the backlog. */
export function startRelay(
  { config, database, redis, subscriptions, lifecycle, log, metrics }: Connections,
  { generations, tryOnQueues, engines, publish }: TryOns,
): Relay {
  const calls = serveWorkerCalls({
    redis: createRedis(config.REDIS_URL, { role: 'consumer', log }),
    operations: createWorkerOperations(database, generations),
    // Callers need connections, too.
    concurrency: Math.ceil(config.DATABASE_POOL / 2),
    publish,
    log,
  })
  lifecycle.onStop('calls of workers', () => calls.stop())
  const relay = createRelay({ outbox: createOutbox(database), generations, queues: tryOnQueues, log, metrics })
  const gauges = createBacklogGauges({
    backlog: createBacklog(database),
    countSlots: () => redis.countSlots('try-on'),
    findEngineSlots: engines.list,
    isReady: redis.isReady,
    metrics,
    log,
  })
  lifecycle.onStop('backlog gauges', () => gauges.stop())
  lifecycle.onStop('relay', () => relay.stop())
  subscriptions.subscribeAll(generationChannel(''), relay.noteGenerationChange)
  subscriptions.subscribe(WORKERS_CHANNEL, relay.noteWorker)
  return relay
}
