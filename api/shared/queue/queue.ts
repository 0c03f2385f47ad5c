import { setTimeout as sleep } from 'node:timers/promises'
import { createNodeRedisClient, type IRedisClient, Queue, QueueEvents, Worker } from 'bullmq'
import { DrapeError } from '../contract/errors.ts'
import { type Attributes, activeTraceparent, withSpan } from '../telemetry/telemetry.ts'
import type { Redis } from './redis.ts'

export interface Job<T> {
  readonly id: string
  readonly data: T
}

/** Trace context of a job. */
interface Traced {
  readonly traceparent?: string | null
}

/** Jobs that are sent concurrently. More of them outlive collections of the young generation, which takes processor time. */
const AT_ONCE = 100

export interface JobQueue<T> {
  /**
   * Adds jobs; ignores a job whose ID already exists. Throws a retryable error immediately when Redis is unavailable.
   */
  add(jobs: readonly Job<T>[]): Promise<void>
  /** Adds a job and resolves when it has ended, or after `ms`. */
  run(job: Job<T>, ms: number): Promise<void>
  /** Drops jobs that no worker has taken. */
  remove(ids: readonly string[]): Promise<void>
  /** The jobs among `ids` that are waiting or held by a live worker. All others are lost. */
  findHeld(ids: readonly string[]): Promise<Set<string>>
  isReady(): boolean
  close(): Promise<void>
}

/** Producer of a queue. `awaits` opens the event stream that `run` needs. */
export function createJobQueue<T extends Traced>({
  redis,
  name,
  awaits = false,
}: {
  redis: Redis
  name: string
  awaits?: boolean
}): JobQueue<T> {
  const connection = connectionOf(redis)
  const queue = new Queue(name, {
    connection,
    ...WITHOUT_CHECK,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  })
  const events = awaits ? new QueueEvents(name, { connection, ...WITHOUT_CHECK }) : null
  // The connection itself logs disconnects; without a listener these errors would end the process.
  queue.on('error', () => {})
  events?.on('error', () => {})

  // The worker's span is a child of the send span, so that the time between them is visible.
  const send = ({ id, data }: Job<T>) =>
    withSpan(
      `send ${kindOf(name)}`,
      { kind: 'producer', attributes: messaging(name, 'send', id), parent: data.traceparent },
      () => queue.add(name, { ...data, traceparent: activeTraceparent() ?? data.traceparent }, { jobId: id }),
    )
  const assertReady = () => {
    if (!redis.isReady()) throw new DrapeError('SERVICE_UNAVAILABLE', 'The queue is unavailable.', { retryable: true })
  }
  return {
    add: async (jobs) => {
      assertReady()
      // Not addBulk: its transaction does not reload its scripts into a restarted Redis.
      for (let at = 0; at < jobs.length; at += AT_ONCE) await Promise.all(jobs.slice(at, at + AT_ONCE).map(send))
    },
    run: async (job, ms) => {
      if (!events) throw new Error(`The queue ${name} was opened without \`awaits\``)
      assertReady()
      const added = await Promise.race([send(job), sleep(ms, null, { ref: false })])
      await added?.waitUntilFinished(events, ms).catch(() => {})
    },
    remove: async (ids) => {
      assertReady()
      await Promise.all(ids.map((id) => queue.remove(id)))
    },
    findHeld: async (ids) => {
      assertReady()
      return ids.length === 0 ? new Set() : redis.findHeld(name, ids)
    },
    isReady: redis.isReady,
    close: () => withTimeout(CLOSE_MS, Promise.all([events?.close(), queue.close()])),
  }
}

export interface Consumer {
  readonly name: string
  /** Jobs taken since the start. */
  countTaken(): number
  isIdle(): boolean
  countInHand(): number
  /** Starts or stops taking new jobs; running jobs continue. A consumer starts paused. */
  setTaking(taking: boolean): Promise<void>
  /** Takes no more jobs and resolves when no job is running or about to be taken. */
  drain(): Promise<void>
  /** Takes no more jobs and resolves when the running jobs have ended. */
  close(): Promise<void>
}

/**
 * Consumer of a queue. BullMQ's own retries are disabled: Postgres decides what runs again. Its lock is short and
 * renewed by this process's event loop, which no inference blocks.
 */
export function createConsumer({
  redis,
  name,
  concurrency,
  handle,
  refuse,
}: {
  redis: Redis
  name: string
  concurrency: number
  handle: (job: Job<unknown>) => Promise<unknown>
  /** Receives jobs that were arriving when the consumer was closed. */
  refuse: (job: Job<unknown>) => Promise<unknown>
}): Consumer {
  const inHand = new Set<Promise<unknown>>()
  let taken = 0
  let closing = false
  const run = (job: Job<unknown>) => {
    taken++
    const parent = (job.data as Traced).traceparent
    const attributes = messaging(name, 'process', job.id)
    const running = withSpan(`process ${kindOf(name)}`, { kind: 'consumer', attributes, parent }, () =>
      closing ? refuse(job) : handle(job),
    ).finally(() => inHand.delete(running))
    inHand.add(running)
    return running
  }
  // Without the result: the event stream in Redis would keep it.
  const handleJob = async (job: { id?: string; data: unknown }) =>
    void (await run({ id: job.id ?? '', data: job.data }))
  const worker = new Worker(name, handleJob, {
    connection: connectionOf(redis),
    ...WITHOUT_CHECK,
    concurrency,
    lockDuration: LOCK_MS,
    // Only cleans up: the relay finds lost jobs.
    stalledInterval: 20_000,
    drainDelay: LISTEN_SECONDS,
    maxStalledCount: 1_000_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    autorun: false,
  })
  worker.on('error', () => {})
  // A connection that is lost while the worker starts ends its run; restart it until the worker is closed.
  const keepRunning = async () => {
    while (!worker.closing) {
      await worker.run().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  return {
    name,
    countTaken: () => taken,
    isIdle: () => inHand.size === 0,
    countInHand: () => inHand.size,
    setTaking: async (taking) => {
      if (closing) return
      if (!taking) return worker.pause(true)
      if (worker.isPaused()) worker.resume()
      else if (!worker.isRunning()) keepRunning()
    },
    drain: async () => {
      // A paused worker may still receive the job that it was listening for.
      if (worker.isPaused()) worker.resume()
      await worker.pause(false).catch((error) => {
        // A consumer that is closed meanwhile loses its connection, so that no job arrives either.
        if (!closing) throw error
      })
      await Promise.allSettled(inHand)
    },
    close: async () => {
      closing = true
      const closed = worker.close()
      await Promise.allSettled(inHand)
      await withTimeout(CLOSE_MS, closed)
    },
  }
}

/**
 * BullMQ asks for the version of Redis once. If the connection breaks before the answer, every later command fails without a pause, so
 * that a worker occupies its event loop forever.
 */
const WITHOUT_CHECK = { skipVersionCheck: true }

/** The client in the form that BullMQ expects. */
function connectionOf({ client }: Redis) {
  const connection: IRedisClient = createNodeRedisClient(client)
  // Repeats errors of the client, which has its own listener.
  connection.on('error', () => {})
  return connection
}

/** Lock duration: another worker may take a job whose lock was not renewed for this long. */
const LOCK_MS = 6000
/** How long an idle worker blocks before it polls again. */
const LISTEN_SECONDS = 30
// Closing waits indefinitely while Redis is unavailable.
const CLOSE_MS = 1000

async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), new Promise((resolve) => setTimeout(resolve, ms))])
}

/**
 * Common part of the queue names of all engine queues, e.g. `try-on` of `try-on.mock,warp`: span names must not differ by engine queue.
 */
function kindOf(queue: string): string {
  return queue.split('.', 1)[0]
}

/** https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/ */
function messaging(queue: string, operation: 'send' | 'process', id: string): Attributes {
  return {
    'messaging.system': 'bullmq',
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.message.id': id,
  }
}
