import { createClient } from 'redis'
import { readEvictionPolicy, whyEvicting } from './eviction.ts'
import type { Log } from './log.ts'

/** The queues of jobs. */
export const QUEUES = ['prepare', 'try-on'] as const
export type QueueName = (typeof QUEUES)[number]

const PING_MS = 5000
/**
 * A connection on which nothing was heard for so long is dead and made anew. A consumer may listen for `LISTEN_SECONDS` before it
 * says something; a subscriber may never hear anything.
 */
const SILENT_MS = { producer: 15_000, consumer: 45_000, subscriber: undefined }

export type Redis = ReturnType<typeof createRedis>

/**
 * One connection that comes back by itself whenever Redis does. While it is away a producer's commands fail at once, so that no
 * request hangs on them; a consumer's wait, because BullMQ's worker repeats a failed command without ever pausing, and so do a
 * subscriber's.
 */
export function createRedis(url: string, { role, log }: { role: keyof typeof SILENT_MS; log: Log }) {
  const client = openClient(url, role)
  const refuseEviction = createEvictionCheck(client, log)
  let reachable = true
  client.on('error', (error: Error) => {
    if (reachable) log.warn({ reason: error.message }, 'Redis is unavailable')
    reachable = false
  })
  client.on('ready', () => {
    if (!reachable) log.info('Redis is available again')
    reachable = true
    if (role !== 'subscriber')
      refuseEviction().catch((error) => log.warn({ err: error }, 'maxmemory-policy of Redis could not be read'))
  })
  client.connect().catch(() => {})
  // The client gives a connection up for good that breaks while it is being made.
  const watchdog = setInterval(() => {
    if (!client.isOpen) client.connect().catch(() => {})
  }, 1000)
  watchdog.unref()

  return {
    client,
    isReady: () => client.isReady,
    /** Resolves when Redis answers. */
    ping: async () => {
      if (!client.isReady) throw new Error('not connected')
      await client.ping()
    },
    ...createWorkerRegistry(client),
    ...createJobLists(client),
    close: async () => {
      clearInterval(watchdog)
      if (client.isOpen) client.destroy()
    },
  }
}

type Client = ReturnType<typeof openClient>

function openClient(url: string, role: keyof typeof SILENT_MS) {
  return createClient({
    url,
    disableOfflineQueue: role === 'producer',
    ...(role === 'producer' && { pingInterval: PING_MS }),
    socket: {
      socketTimeout: SILENT_MS[role],
      connectTimeout: 2000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), 1000),
    },
  })
}

/** At the first connection an evicting Redis ends the process; a policy that changes later is reported. */
function createEvictionCheck(client: Client, log: Log): () => Promise<void> {
  let isChecked = false
  return async () => {
    const policy = await readEvictionPolicy(client)
    if (policy === null) log.warn('Redis does not report its maxmemory-policy. It must be noeviction.')
    const why = whyEvicting(policy)
    if (why !== null) {
      log.fatal({ policy }, why)
      if (!isChecked) process.exit(1)
    }
    isChecked = true
  }
}

/** The workers that live, by what they say of themselves. */
function createWorkerRegistry(client: Client) {
  /** All workers that announced themselves for a queue and have not gone silent; none while Redis is away. */
  async function findWorkers(queue: QueueName): Promise<{ worker: string; slots: number }[]> {
    return findAnnounced(workersKey(queue))
  }

  async function findMembers(key: string): Promise<string[]> {
    if (!client.isReady) return []
    return (await client.eval(FIND_ANNOUNCED, { keys: [key] })) as string[]
  }

  async function findAnnounced(key: string): Promise<{ worker: string; slots: number }[]> {
    return (await findMembers(key)).map((member) => {
      const colon = member.lastIndexOf(':')
      return { worker: member.slice(0, colon), slots: Number(member.slice(colon + 1)) }
    })
  }

  async function findTryOnWorkers(): Promise<TryOnWorker[]> {
    const [all, members] = await Promise.all([findWorkers('try-on'), findMembers(LANE_WORKERS)])
    const known = new Map(members.map((member) => JSON.parse(member)).map((said) => [said.worker, said.engines]))
    const old = all.filter(({ worker }) => !known.has(worker))
    const oldEngines = old.length === 0 ? [] : await findEnginesOf(OLD_ENGINES)
    return all.map(({ worker, slots }) => {
      const engines = known.get(worker)
      if (engines) return { worker, slots, engines, isOld: false }
      const theirs = oldEngines.filter(({ workers }) => workers.has(worker)).map(({ engine }) => engine)
      return { worker, slots, engines: theirs, isOld: true }
    })
  }

  async function findEnginesOf(names: readonly string[]) {
    return Promise.all(
      names.map(async (engine) => {
        const workers = await findAnnounced(engineKey(engine))
        return { engine, workers: new Set(workers.map(({ worker }) => worker)) }
      }),
    )
  }

  return {
    /** For `seconds`, this worker has `slots` for each of the queues and runs these engines. */
    announce: async ({ worker, slots, seconds, ...what }: Announcement & { readonly seconds: number }) => {
      await client.eval(ANNOUNCE, {
        keys: [...announcedKeys(what), LANE_WORKERS],
        arguments: [`${worker}:${slots}`, String(seconds * 1000), laneMember(worker, what)],
      })
    },
    withdraw: async ({ worker, slots, ...what }: Announcement) => {
      const leaving = announcedKeys(what).map((key) => client.zRem(key, `${worker}:${slots}`))
      await Promise.all([...leaving, client.zRem(LANE_WORKERS, laneMember(worker, what))])
    },
    findWorkers,
    /** The live workers that take try-ons, each with its engines. */
    findTryOnWorkers,
    /** Those of them that take try-ons by this engine. */
    findWorkersWith: (engine: string) => findAnnounced(engineKey(engine)),
    /** Slots of all live workers of a queue. */
    countSlots: async (queue: QueueName): Promise<number> => {
      const workers = await findWorkers(queue)
      return workers.reduce((sum, { slots }) => sum + slots, 0)
    },
  }
}

/** Jobs in the lists of BullMQ. */
function createJobLists(client: Client) {
  /** Which of these jobs are in the hands of a worker that lives. */
  async function findLocked(queue: string, ids: readonly string[]): Promise<Set<string>> {
    const locks = await Promise.all(ids.map((id) => client.exists(`bull:${queue}:${id}:lock`)))
    return new Set(ids.filter((_, i) => locks[i] === 1))
  }

  return {
    /** Jobs that no worker has taken. */
    countWaiting: (queue: string): Promise<number> => client.lLen(`bull:${queue}:wait`),
    /** Jobs that wait for a worker, and jobs that workers run. */
    countJobs: async (queue: string): Promise<{ waiting: number; inFlight: number }> => {
      const lengths = ['wait', 'active'].map((list) => client.lLen(`bull:${queue}:${list}`))
      const [waiting, inFlight] = await Promise.all(lengths)
      return { waiting, inFlight }
    },
    /** Which of these jobs still wait, or are in the hands of a worker that lives. */
    findHeld: async (queue: string, ids: readonly string[]): Promise<Set<string>> => {
      const waiting = new Set(await client.lRange(`bull:${queue}:wait`, 0, -1))
      // A worker that was killed may have taken the mark by which the others learn of waiting jobs.
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

/** `ahead`: jobs that workers take before it. `isLocked`: whether the worker that has it lives. */
export type JobPlace =
  | { readonly state: 'waiting'; readonly ahead: number }
  | { readonly state: 'active'; readonly isLocked: boolean }

/** What a worker says of itself. */
interface Announcement {
  readonly queues: readonly QueueName[]
  readonly engines: readonly string[]
  readonly worker: string
  readonly slots: number
}

// By the clock of Redis, the only one that all processes share.
const NOW = `local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)`
const ANNOUNCE = `${NOW} for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], i < #KEYS and ARGV[1] or ARGV[3]) end`
const FIND_ANNOUNCED = `${NOW} redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now) return redis.call('ZRANGE', KEYS[1], 0, -1)`

/** Names each worker of try-ons together with its engines. */
const LANE_WORKERS = 'drape:lane-workers'
/** Workers of the release before lanes are announced for each engine only; it knew no other engines. */
const OLD_ENGINES = ['warp', 'fashn-vton', 'catvton', 'mock']

interface TryOnWorker {
  readonly worker: string
  readonly slots: number
  readonly engines: readonly string[]
  /** Of the release before lanes. */
  readonly isOld: boolean
}

function laneMember(worker: string, { queues, engines }: Pick<Announcement, 'queues' | 'engines'>): string {
  return JSON.stringify({ worker, engines: queues.includes('try-on') ? engines : [] })
}

function announcedKeys({ queues, engines }: Pick<Announcement, 'queues' | 'engines'>): string[] {
  return [...queues.map(workersKey), ...(queues.includes('try-on') ? engines.map(engineKey) : [])]
}

function engineKey(engine: string): string {
  return `drape:workers:engine:${engine}`
}

function workersKey(queue: QueueName): string {
  return `drape:workers:${queue}`
}
