import { setTimeout as sleep } from 'node:timers/promises'
import { createNodeRedisClient, type IRedisClient, Queue, QueueEvents, Worker } from 'bullmq'
import { DrapeError } from './errors.ts'
import type { Redis } from './redis.ts'
import { type Attributes, activeTraceparent, withSpan } from './telemetry.ts'

export interface Job<T> {
  readonly id: string
  readonly data: T
}

/** What every job may carry: the span that it goes on from. */
interface Traced {
  readonly traceparent?: string | null
}

export interface JobQueue<T> {
  /** Adds jobs; one whose id is there already is left alone. Throws a retryable error at once when Redis is away. */
  add(jobs: readonly Job<T>[]): Promise<void>
  /** Adds a job and resolves with what its worker returned, or null when that takes longer than `ms`. */
  run<R>(job: Job<T>, ms: number): Promise<R | null>
  /** Drops jobs that no worker has taken. */
  remove(ids: readonly string[]): Promise<void>
  /** Which of these jobs still wait, or are in the hands of a worker that lives. Others are lost, whatever is left of them. */
  findHeld(ids: readonly string[]): Promise<Set<string>>
  isReady(): boolean
  close(): Promise<void>
}

/** The producer's end of a queue. `results` opens the event stream that `run` needs. */
export function createJobQueue<T extends Traced>({
  redis,
  name,
  results = false,
}: {
  redis: Redis
  name: string
  results?: boolean
}): JobQueue<T> {
  const connection = connectionOf(redis)
  const queue = new Queue(name, {
    connection,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  })
  const events = results ? new QueueEvents(name, { connection }) : null
  // The connection itself reports when Redis goes and comes; without a listener these would end the process.
  queue.on('error', () => {})
  events?.on('error', () => {})

  // The worker's span belongs to that of the sending, so that the wait between the two is seen.
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
      // One by one and not addBulk: its transaction finds no scripts in a Redis that was started anew and does not load them again.
      await Promise.all(jobs.map(send))
    },
    run: async (job, ms) => {
      if (!events) throw new Error(`The queue ${name} was opened without results`)
      assertReady()
      const added = await Promise.race([send(job), sleep(ms, null, { ref: false })])
      return added?.waitUntilFinished(events, ms).catch(() => null) ?? null
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
    close: () => atMost(CLOSE_MS, Promise.all([events?.close(), queue.close()])),
  }
}

export interface Consumer {
  readonly name: string
  /** Jobs taken since the start. */
  countTaken(): number
  isIdle(): boolean
  countInHand(): number
  /** Whether new jobs are taken; those in hand go on. A consumer starts paused. */
  setTaking(taking: boolean): Promise<void>
  /** Takes no more jobs and resolves when those in hand have ended and none is on its way. */
  drain(): Promise<void>
  /** Takes no more jobs and resolves when those in hand have ended. */
  close(): Promise<void>
}

/**
 * The worker's end of a queue. BullMQ's own retries are off: Postgres decides what is run again. Its lock is short and
 * renewed from this process's event loop, which no inference ever blocks.
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
  /** Gets what was under way when the consumer was closed. */
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
  const worker = new Worker(name, (job) => run({ id: job.id ?? '', data: job.data }), {
    connection: connectionOf(redis),
    concurrency,
    lockDuration: LOCK_MS,
    // It only tidies up: what is lost is found by the relay.
    stalledInterval: 20_000,
    drainDelay: LISTEN_SECONDS,
    maxStalledCount: 1_000_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    autorun: false,
  })
  worker.on('error', () => {})
  // A connection that is lost while the worker starts ends its run; it is begun again until the worker is closed.
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
      // One that has only been paused may still get the job that it listened for.
      if (worker.isPaused()) worker.resume()
      await worker.pause(false)
      await Promise.allSettled(inHand)
    },
    close: async () => {
      closing = true
      const closed = worker.close()
      await Promise.allSettled(inHand)
      await atMost(CLOSE_MS, closed)
    },
  }
}

/** The client as BullMQ wants to see it. */
function connectionOf({ client }: Redis) {
  const connection: IRedisClient = createNodeRedisClient(client)
  // It repeats the client's errors, which have a listener of their own.
  connection.on('error', () => {})
  return connection
}

/** What the worker has taken and not renewed for so long may be given to another. */
const LOCK_MS = 6000
/** How long an idle worker listens before it asks again. */
const LISTEN_SECONDS = 30
// Saying goodbye to a Redis that is away would take for ever.
const CLOSE_MS = 1000

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), new Promise((resolve) => setTimeout(resolve, ms))])
}

/** What the queues of all lanes have in common, as in `try-on` of `try-on.mock,warp`: names of spans must not differ by lane. */
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
