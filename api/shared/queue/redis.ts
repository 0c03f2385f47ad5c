import { RedisClient } from 'redis'
import type { Log } from '../telemetry/log.ts'
import { infoField, serverProblem } from './redis-problem.ts'
import { type Relay, relayToPrimary } from './sentinels.ts'

/** The queues of jobs. */
export const QUEUES = ['prepare', 'try-on'] as const
export type QueueName = (typeof QUEUES)[number]

const PING_MS = 5000
const CHECK_MS = 600_000
/**
 * Time without data after which a connection is dead and is replaced. A consumer may block for `LISTEN_SECONDS` before
 * it sends anything; a subscriber may never receive anything.
 */
const SILENT_MS = { producer: 15_000, consumer: 45_000, subscriber: undefined }

export type Redis = ReturnType<typeof createRedis>

/**
 * A connection that reconnects by itself. While Redis is unavailable, a producer's commands fail immediately, so that
 * no request hangs. Commands of a consumer and a subscriber wait: BullMQ's worker repeats a failed command without a
 * pause.
 */
export function createRedis(url: string, { role, log }: { role: keyof typeof SILENT_MS; log: Log }) {
  let fault: Error | undefined
  const noteFault = (error: Error) => {
    if (fault === undefined) log.warn({ reason: error.message }, 'Redis is unavailable')
    fault = error
  }
  const relay = relayToPrimary(url, { onFault: noteFault })
  const client = openClient(relay?.place ?? { url }, role)
  let msAhead = performance.timeOrigin
  const checkServer = createServerCheck(client, {
    log,
    onTime: (ms) => {
      msAhead = ms - performance.now()
    },
  })
  // The relay knows why it closes a connection.
  client.on('error', (error: Error) => noteFault(relay && fault ? fault : error))
  const check = () => {
    if (role === 'subscriber' || !client.isReady) return
    checkServer().catch((error) =>
      log.warn({ err: error }, 'INFO of Redis failed; its maxmemory-policy must be noeviction'),
    )
  }
  client.on('ready', () => {
    if (fault !== undefined) log.info('Redis is available again')
    fault = undefined
    check()
  })
  // Clocks drift apart.
  const checking = setInterval(check, CHECK_MS)
  checking.unref()
  client.connect().catch(() => {})
  // The client does not retry a connection that breaks while it is being established.
  const watchdog = setInterval(() => {
    if (!client.isOpen) client.connect().catch(() => {})
  }, 1000)
  watchdog.unref()

  return {
    client,
    isReady: () => client.isReady,
    /** The time by the clock of Redis, which all processes share, in ms since 1970; of a subscriber and before the first connection its own. */
    now: () => performance.now() + msAhead,
    /** Why the last attempt to connect failed; undefined while connected. */
    fault: () => fault,
    /** Resolves when Redis responds. */
    ping: async () => {
      if (!client.isReady) throw new Error(`not connected${fault === undefined ? '' : `: ${fault.message}`}`)
      await client.ping()
    },
    ...createWorkerRegistry(client),
    ...createJobLists(client),
    close: async () => {
      clearInterval(watchdog)
      clearInterval(checking)
      if (client.isOpen) client.destroy()
      relay?.close()
    },
  }
}

type Client = ReturnType<typeof openClient>

/** `createClient` makes a class for each address, which takes 50 ms of processor time, with the commands of all modules of Redis. */
const createClient = RedisClient.factory({})

function openClient({ path, ...place }: Partial<Relay['place']> & { url?: string }, role: keyof typeof SILENT_MS) {
  const socket = {
    socketTimeout: SILENT_MS[role],
    connectTimeout: 2000,
    reconnectStrategy: (retries: number) => Math.min(50 * 2 ** Math.min(retries, 10), 1000),
  }
  return createClient({
    ...place,
    disableOfflineQueue: role === 'producer',
    // A timer for each command costs as much as the command, and ends only the wait until it is sent. The socket has a limit of its own.
    ...(role === 'producer' && { pingInterval: PING_MS, commandOptions: { timeout: 0 } }),
    socket: path === undefined ? socket : { ...socket, path },
  })
}

/** At the first connection, a Redis that cannot hold queues ends the process; a later change is logged. */
function createServerCheck(
  client: Client,
  { log, onTime }: { log: Log; onTime: (ms: number) => void },
): () => Promise<void> {
  let isChecked = false
  return async () => {
    // The same as without a section, but not the bytes of BullMQ's version check, by which a test knows that one.
    const info = await client.info('default')
    const microseconds = Number(infoField(info, 'server_time_usec'))
    if (microseconds > 0) onTime(microseconds / 1000)
    if (infoField(info, 'maxmemory_policy') === undefined)
      log.warn('Redis does not report its maxmemory-policy. It must be noeviction.')
    const why = serverProblem(info)
    if (why !== null) {
      log.fatal(why)
      if (!isChecked) process.exit(1)
    }
    isChecked = true
  }
}

/** Registry of live workers, by their own announcements. */
function createWorkerRegistry(client: Client) {
  /** All live workers of a queue; empty while Redis is unavailable. Workers with the same engines share the list of engines. */
  async function findWorkers(queue: QueueName): Promise<QueueWorker[]> {
    if (!client.isReady) return []
    const members = (await client.eval(FIND_ANNOUNCED, { keys: [workersKey(queue)] })) as string[]
    const lists = new Map<string, string[]>()
    return members.flatMap((member) => {
      const [, text, worker, slots] = /^(\S*) (.+):(\d+)$/s.exec(member) ?? []
      if (text === undefined) return []
      const engines = lists.get(text) ?? text.split(',').filter(Boolean)
      lists.set(text, engines)
      return [{ worker, slots: Number(slots), engines }]
    })
  }

  return {
    /** Announces, for `seconds`, the queues, the `slots` and the engines of this worker. */
    announce: async ({ worker, slots, seconds, queues, engines }: Announcement & { readonly seconds: number }) => {
      await client.eval(ANNOUNCE, {
        keys: queues.map(workersKey),
        arguments: [memberOf({ worker, slots, engines }), String(seconds * 1000)],
      })
    },
    withdraw: async ({ worker, slots, queues, engines }: Announcement) => {
      await Promise.all(queues.map((queue) => client.zRem(workersKey(queue), memberOf({ worker, slots, engines }))))
    },
    findWorkers,
    /** The live workers that take try-ons by this engine. */
    findWorkersWith: async (engine: string) =>
      (await findWorkers('try-on')).filter(({ engines }) => engines.includes(engine)),
    /** Slots of all live workers of a queue. */
    countSlots: async (queue: QueueName): Promise<number> => {
      const workers = await findWorkers(queue)
      return workers.reduce((sum, { slots }) => sum + slots, 0)
    },
  }
}

/** Jobs in BullMQ's lists. */
function createJobLists(client: Client) {
  /** The jobs among `ids` that a live worker holds. */
  async function findLocked(queue: string, ids: readonly string[]): Promise<Set<string>> {
    const locks = await Promise.all(ids.map((id) => client.exists(`bull:${queue}:${id}:lock`)))
    return new Set(ids.filter((_, i) => locks[i] === 1))
  }

  return {
    /** Jobs that no worker has taken. */
    countWaiting: (queue: string): Promise<number> => client.lLen(`bull:${queue}:wait`),
    /** Counts of waiting and running jobs. */
    countJobs: async (queue: string): Promise<{ waiting: number; inFlight: number }> => {
      const lengths = ['wait', 'active'].map((list) => client.lLen(`bull:${queue}:${list}`))
      const [waiting, inFlight] = await Promise.all(lengths)
      return { waiting, inFlight }
    },
    /** The jobs among `ids` that are waiting or held by a live worker. */
    findHeld: async (queue: string, ids: readonly string[]): Promise<Set<string>> => {
      const waiting = new Set(await client.lRange(`bull:${queue}:wait`, 0, -1))
      // A worker that was killed may have consumed the marker that wakes the other workers.
      if (waiting.size > 0) await client.zAdd(`bull:${queue}:marker`, { value: '0', score: 0 })
      const locked = await findLocked(
        queue,
        ids.filter((id) => !waiting.has(id)),
      )
      return new Set(ids.filter((id) => waiting.has(id) || locked.has(id)))
    },
    findLocked,
    /** Where a job of a queue is; null when Redis does not have the job. */
    findJob: async (queue: string, id: string): Promise<JobPlace | null> => {
      const [waiting, active, locked] = await Promise.all([
        client.lRange(`bull:${queue}:wait`, 0, -1),
        client.lRange(`bull:${queue}:active`, 0, -1),
        findLocked(queue, [id]),
      ])
      // Workers take the last one first.
      const place = waiting.reverse().indexOf(id)
      if (place >= 0) return { state: 'waiting', ahead: place }
      return active.includes(id) ? { state: 'active', isLocked: locked.has(id) } : null
    },
  }
}

/** `ahead`: number of jobs before it. `isLocked`: whether its worker is alive. */
export type JobPlace =
  | { readonly state: 'waiting'; readonly ahead: number }
  | { readonly state: 'active'; readonly isLocked: boolean }

/** Announcement of a worker. */
interface Announcement {
  readonly queues: readonly QueueName[]
  readonly engines: readonly string[]
  readonly worker: string
  readonly slots: number
}

/** Start of a script: the current time in ms, by the clock of Redis, which all processes share. */
const NOW = `local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)`
const ANNOUNCE = `${NOW} for _, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, 0, now)
  redis.call('ZADD', key, now + ARGV[2], ARGV[1]) end`
// Writes nothing: a reader may have no permission to write.
const FIND_ANNOUNCED = `${NOW} return redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE')`

interface QueueWorker {
  readonly worker: string
  readonly slots: number
  readonly engines: readonly string[]
}

function memberOf({ worker, slots, engines }: QueueWorker): string {
  return `${engines.join(',')} ${worker}:${slots}`
}

function workersKey(queue: QueueName): string {
  return `drape:workers:${queue}`
}
