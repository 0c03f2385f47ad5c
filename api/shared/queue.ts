import { createNodeRedisClient, type IRedisClient, Queue, QueueEvents, Worker } from 'bullmq'
import { createClient } from 'redis'
import { DrapeError } from './errors.ts'
import type { Log } from './log.ts'
import { type Attributes, activeTraceparent, withSpan } from './telemetry.ts'

export const QUEUES = ['prepare', 'try-on'] as const
export type QueueName = (typeof QUEUES)[number]

export type Redis = ReturnType<typeof createRedis>

/**
 * One connection that comes back by itself whenever Redis does. While it is away a producer's commands fail at once, so that no
 * request hangs on them; a consumer's wait, because BullMQ's worker repeats a failed command without ever pausing.
 */
export function createRedis(url: string, { role, log }: { role: 'producer' | 'consumer'; log: Log }) {
  const client = createClient({
    url,
    disableOfflineQueue: role === 'producer',
    socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), 1000) },
  })
  const connection = createNodeRedisClient(client)
  // It repeats the client's errors, which have a listener below.
  connection.on('error', () => {})
  let reachable = true
  client.on('error', (error: Error) => {
    if (reachable) log.warn({ reason: error.message }, 'Redis is away')
    reachable = false
  })
  client.on('ready', () => {
    if (!reachable) log.info('Redis is back')
    reachable = true
  })
  // The client gives a connection up for good that breaks while it is being made.
  const watchdog = setInterval(() => {
    if (!client.isOpen) client.connect().catch(() => {})
  }, 1000)
  watchdog.unref()
  return {
    client,
    connection,
    isReady: () => client.isReady,
    /** Resolves when Redis answers. */
    ping: async () => {
      if (!client.isReady) throw new Error('not connected')
      await client.ping()
    },
    /** This worker is there for `seconds` with so many slots for a queue. */
    announce: async ({
      queue,
      worker,
      slots,
      seconds,
    }: {
      queue: QueueName
      worker: string
      slots: number
      seconds: number
    }) => {
      await client.zAdd(workersKey(queue), { value: `${worker}:${slots}`, score: Date.now() + seconds * 1000 })
    },
    withdraw: async ({ queue, worker, slots }: { queue: QueueName; worker: string; slots: number }) => {
      await client.zRem(workersKey(queue), `${worker}:${slots}`)
    },
    /** Slots of all workers that announced themselves and have not gone silent. */
    countSlots: async (queue: QueueName): Promise<number> => {
      if (!client.isReady) return 0
      const key = workersKey(queue)
      const [, workers] = await client.multi().zRemRangeByScore(key, 0, Date.now()).zRange(key, 0, -1).execTyped()
      return workers.reduce((slots, entry) => slots + Number(entry.slice(entry.lastIndexOf(':') + 1)), 0)
    },
    known: async (queue: QueueName, ids: readonly string[]): Promise<Set<string>> => {
      const pipeline = client.multi()
      for (const id of ids) pipeline.exists(`bull:${queue}:${id}`)
      const found = await pipeline.execAsPipeline()
      return new Set(ids.filter((_, i) => Number(found[i]) === 1))
    },
    close: async () => {
      clearInterval(watchdog)
      if (client.isOpen) client.destroy()
    },
  }
}

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
  /** Jobs that no worker has taken. */
  countWaiting(): Promise<number>
  /** Which of these job ids Redis still knows. */
  known(ids: readonly string[]): Promise<Set<string>>
  close(): Promise<void>
}

/** The producer's end of a queue. `results` opens the event stream that `run` needs. */
export function createJobQueue<T extends Traced>({
  redis,
  name,
  results = false,
}: {
  redis: Redis
  name: QueueName
  results?: boolean
}): JobQueue<T> {
  const queue = new Queue(name, {
    connection: redis.connection as IRedisClient as never,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  })
  const events = results ? new QueueEvents(name, { connection: redis.connection as IRedisClient as never }) : null
  // The connection itself reports when Redis goes and comes; without a listener these would end the process.
  queue.on('error', () => {})
  events?.on('error', () => {})

  // The worker's span belongs to that of the sending, so that the wait between the two is seen.
  const send = ({ id, data }: Job<T>) =>
    withSpan(
      `send ${name}`,
      { kind: 'producer', attributes: messaging(name, 'send', id), parent: data.traceparent },
      () => queue.add(name, { ...data, traceparent: activeTraceparent() ?? data.traceparent }, { jobId: id }),
    )
  const mustBeReady = () => {
    if (!redis.isReady())
      throw new DrapeError('SERVICE_UNAVAILABLE', 'The queue is not reachable.', { retryable: true })
  }
  return {
    add: async (jobs) => {
      mustBeReady()
      // One by one and not addBulk: its transaction finds no scripts in a Redis that was started anew and does not load them again.
      await Promise.all(jobs.map(send))
    },
    run: async (job, ms) => {
      if (!events) throw new Error(`The queue ${name} was opened without results`)
      mustBeReady()
      const added = await send(job)
      return added.waitUntilFinished(events, ms).catch(() => null)
    },
    remove: async (ids) => {
      mustBeReady()
      await Promise.all(ids.map((id) => queue.remove(id)))
    },
    // While the connection was never made BullMQ would wait for it without end.
    countWaiting: async () => {
      mustBeReady()
      return queue.getWaitingCount()
    },
    known: async (ids) => {
      mustBeReady()
      return ids.length === 0 ? new Set() : redis.known(name, ids)
    },
    close: () => atMost(CLOSE_MS, Promise.all([events?.close(), queue.close()])),
  }
}

export interface Consumer {
  isRunning(): boolean
  /** Whether new jobs are taken; those in hand go on. A consumer starts paused. */
  setTaking(taking: boolean): Promise<void>
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
}: {
  redis: Redis
  name: QueueName
  concurrency: number
  handle: (job: Job<unknown>) => Promise<unknown>
}): Consumer {
  const inHand = new Set<Promise<unknown>>()
  const run = (job: Job<unknown>) => {
    const parent = (job.data as Traced).traceparent
    const attributes = messaging(name, 'process', job.id)
    const running = withSpan(`process ${name}`, { kind: 'consumer', attributes, parent }, () => handle(job)).finally(
      () => inHand.delete(running),
    )
    inHand.add(running)
    return running
  }
  const worker = new Worker(name, (job) => run({ id: job.id ?? '', data: job.data }), {
    connection: redis.connection as IRedisClient as never,
    concurrency,
    lockDuration: 10_000,
    stalledInterval: 3000,
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
    isRunning: () => worker.isRunning(),
    setTaking: async (taking) => {
      if (!taking) return worker.pause(true)
      if (worker.isPaused()) worker.resume()
      else if (!worker.isRunning()) keepRunning()
    },
    close: async () => {
      const closed = worker.close()
      await Promise.allSettled(inHand)
      await atMost(CLOSE_MS, closed)
    },
  }
}

// Saying goodbye to a Redis that is away would take for ever.
const CLOSE_MS = 1000

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), new Promise((resolve) => setTimeout(resolve, ms))])
}

/** https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/ */
function messaging(queue: QueueName, operation: 'send' | 'process', id: string): Attributes {
  return {
    'messaging.system': 'bullmq',
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.message.id': id,
  }
}

function workersKey(queue: QueueName): string {
  return `drape:workers:${queue}`
}
