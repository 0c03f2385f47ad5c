import { parseJsonOrNull } from '../contract/json-or-null.ts'
import { compileCheck, type Static, Type } from '../contract/schema.ts'
import { MAX_TIME } from '../generations/generation.ts'
import type { Redis } from '../queue/redis.ts'

const TimeSchema = Type.Integer({ minimum: 0, maximum: MAX_TIME })

const WorkerReportSchema = Type.Object({
  host: Type.String(),
  /** `taking`: takes jobs. `draining`: takes no more jobs. `drained`: has no jobs left. */
  state: Type.Enum(['taking', 'draining', 'drained']),
  /** Number of the drain request that the worker follows; null while it takes jobs. */
  fence: Type.Union([Type.Integer(), Type.Null()]),
  jobs: Type.Integer(),
  slots: Type.Integer(),
  /** Time since which the worker has been idle, in ms since 1970; null while it has a job. */
  idleSince: Type.Union([TimeSchema, Type.Null()]),
  /** Execution provider. */
  provider: Type.String(),
  engines: Type.Array(Type.String()),
  /** Seconds that the longest download of model files took; absent without one. */
  downloadSeconds: Type.Optional(Type.Number({ minimum: 0 })),
  /** Reason why the worker has fenced itself permanently; absent while its device works. */
  sick: Type.Optional(Type.Object({ reason: Type.String(), message: Type.String(), since: TimeSchema })),
})

/** Report of a worker of a pool. */
export type WorkerReport = Static<typeof WorkerReportSchema>

/** Last order to a worker: the number of a drain request, or `take` to take jobs again. */
export type DrainOrder = number | 'take'

export type PoolRegistry = ReturnType<typeof createPoolRegistry>

/** Lifetime of a report. */
const REPORT_SECONDS = 10
const ORDER_SECONDS = 3600
const REPORTS = 'drape:pool-workers'
const REPORT_PREFIX = 'drape:pool-worker:'
/** A crashed worker stays listed for this long. */
const LISTED_SECONDS = 3600
/** Names of reports that have changed, in the order of the changes. */
const CHANGES = 'drape:pool-changes'
/** More than change between two reads; a reader that has missed changes reads all reports. */
const MAX_CHANGES = 20_000
/** Interval at which a reader reads all reports, should it have missed a change. */
const WHOLE_MS = 60_000
/**
 * Returns the reports that have changed since a change (all without it), the last change, and the names of workers that have been silent
 * by the clock of Redis. Writes nothing, for EVAL_RO: a reader may have no permission to write.
 */
const FIND_REPORTS = `
local time = redis.call('TIME')
local silent = redis.call('ZRANGE', KEYS[1], '-inf', '(' .. (time[1] - ARGV[3]) * 1000, 'BYSCORE')
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local isPart = ARGV[2] ~= '' and #redis.call('XRANGE', KEYS[2], ARGV[2], ARGV[2]) == 1
local names = {}
if isPart then
  for _, change in ipairs(redis.call('XRANGE', KEYS[2], '(' .. ARGV[2], '+')) do names[#names + 1] = change[2][2] end
else
  names = redis.call('ZRANGE', KEYS[1], 0, -1)
end
local found = {}
for _, name in ipairs(names) do
  found[#found + 1] = name
  found[#found + 1] = redis.call('GET', ARGV[1] .. name) or ''
end
return { isPart and 1 or 0, newest and newest[1] or '', found, silent }`

/**
 * Reports between workers of pools and the controller. Everything here may be lost with Redis. A worker of a pod names its report by
 * host and UID: workers may write reports and read none, so no worker can forge or delete the report of another, whose UID it cannot know.
 */
export function createPoolRegistry(redis: Redis) {
  const check = compileCheck(WorkerReportSchema)
  const { client } = redis
  /** The reports of the last read. */
  const known = new Map<string, WorkerReport>()
  let last = { change: '', wholeAt: Number.NEGATIVE_INFINITY }
  return {
    /** `isChanged`: whether the report differs from the last one. */
    report: async (report: WorkerReport, { uid = '', isChanged = true } = {}): Promise<void> => {
      const name = reportName(report.host, uid)
      // No script: scripts require permission to read their keys.
      const commands = client
        .multi()
        .set(reportKey(name), JSON.stringify(report), { expiration: { type: 'EX', value: REPORT_SECONDS } })
        .zAdd(REPORTS, { value: name, score: redis.now() })
      if (isChanged) commands.xAdd(CHANGES, '*', { name }, TRIM)
      await commands.execAsPipeline()
    },
    forget: async (host: string, uid = ''): Promise<void> => {
      const name = reportName(host, uid)
      await client.multi().del(reportKey(name)).zRem(REPORTS, name).xAdd(CHANGES, '*', { name }, TRIM).execAsPipeline()
    },
    /** Drops the names of workers that have not reported for an hour; for the controller. */
    forgetLost: async (): Promise<void> => {
      await client.zRemRangeByScore(REPORTS, 0, redis.now() - LISTED_SECONDS * 1000)
    },
    /** The last order to the worker on this host; null when there is none that this version knows. */
    readOrder: async (host: string): Promise<DrainOrder | null> => {
      const word = await client.get(orderKey(host))
      return word === 'take' ? 'take' : readNumber(word)
    },
    /** The reports of all live workers, by `reportName`. Reads only what has changed since the last call. */
    findWorkers: async (): Promise<Map<string, WorkerReport>> => {
      if (performance.now() - last.wholeAt > WHOLE_MS) last = { change: '', wholeAt: performance.now() }
      const [isPart, change, found, silent] = (await client.evalRo(FIND_REPORTS, {
        keys: [REPORTS, CHANGES],
        arguments: [REPORT_PREFIX, last.change, String(REPORT_SECONDS)],
      })) as [number, string, string[], string[]]
      last = { ...last, change }
      if (isPart === 0) known.clear()
      for (let i = 0; i < found.length; i += 2) {
        // Any worker can write a report; a malformed one must not hide the others.
        const result = check(parseJsonOrNull(found[i + 1]))
        if (result.ok) known.set(found[i], result.value)
        else known.delete(found[i])
      }
      const live = new Map(known)
      for (const name of silent) live.delete(name)
      return live
    },
    /** Sets how long a draining worker may still run its jobs, in ms; null: as long as its drain permits. */
    limitJobs: async (host: string, ms: number | null): Promise<void> => {
      if (ms === null) await client.del(limitKey(host))
      else await client.set(limitKey(host), String(ms), { expiration: { type: 'EX', value: ORDER_SECONDS } })
    },
    /** How long the worker may still run its jobs after it has read this, in ms; null without a limit. */
    readJobLimit: async (host: string): Promise<number | null> => {
      return readNumber(await client.get(limitKey(host)))
    },
    order: async (host: string, word: DrainOrder): Promise<void> => {
      await client.set(orderKey(host), String(word), { expiration: { type: 'EX', value: ORDER_SECONDS } })
    },
  }
}

const TRIM = { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: MAX_CHANGES } } as const

/** An order of a later controller may be another word, which must not become a number. */
function readNumber(word: string | null): number | null {
  return word !== null && /^\d+$/.test(word) ? Number(word) : null
}

/** Name of the report of a worker: its host, and the UID of its pod. */
export function reportName(host: string, uid: string): string {
  return uid === '' ? host : `${host}/${uid}`
}

function reportKey(name: string): string {
  return `${REPORT_PREFIX}${name}`
}

function limitKey(host: string): string {
  return `drape:pool-job-limit:${host}`
}

function orderKey(host: string): string {
  return `drape:pool-word:${host}`
}
