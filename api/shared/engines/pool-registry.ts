import { parseJsonOrNull } from '../contract/json-or-null.ts'
import { compileCheck, type Static, Type } from '../contract/schema.ts'
import { MAX_TIME } from '../generations/generation.ts'
import type { Redis } from '../queue/redis.ts'

const TimeSchema = Type.Integer({ minimum: 0, maximum: MAX_TIME })

export const WorkerReportSchema = Type.Object({
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
/** Redis alone decides which reports have expired. Writes nothing: a reader may have no permission to write. */
const FIND_REPORTS = `
local found = {}
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local text = redis.call('GET', ARGV[1] .. name)
  if text then
    found[#found + 1] = name
    found[#found + 1] = text
  end
end
return found`

/**
 * Reports between workers of pools and the controller. Everything here may be lost with Redis. A worker of a pod names its report by
 * host and UID: workers may write reports and read none, so no worker can forge or delete the report of another, whose UID it cannot know.
 */
export function createPoolRegistry(redis: Redis) {
  const check = compileCheck(WorkerReportSchema)
  const { client } = redis
  return {
    report: async (report: WorkerReport, uid = ''): Promise<void> => {
      const name = reportName(report.host, uid)
      // No script: scripts require permission to read their keys.
      await client
        .multi()
        .set(reportKey(name), JSON.stringify(report), { expiration: { type: 'EX', value: REPORT_SECONDS } })
        .zAdd(REPORTS, { value: name, score: Date.now() })
        .execAsPipeline()
    },
    forget: async (host: string, uid = ''): Promise<void> => {
      const name = reportName(host, uid)
      await client.multi().del(reportKey(name)).zRem(REPORTS, name).execAsPipeline()
    },
    /** Drops the names of workers that have not reported for an hour; for the controller. */
    forgetLost: async (): Promise<void> => {
      await client.zRemRangeByScore(REPORTS, 0, Date.now() - LISTED_SECONDS * 1000)
    },
    /** The last order to the worker on this host; null when there is none that this version knows. */
    readOrder: async (host: string): Promise<DrainOrder | null> => {
      const word = await client.get(orderKey(host))
      return word === 'take' ? 'take' : readNumber(word)
    },
    /** The reports of all live workers, by `reportName`. */
    findWorkers: async (): Promise<Map<string, WorkerReport>> => {
      const found = (await client.eval(FIND_REPORTS, { keys: [REPORTS], arguments: [REPORT_PREFIX] })) as string[]
      return new Map(
        Array.from({ length: found.length / 2 }, (_, i) => found.slice(2 * i, 2 * i + 2)).flatMap(([name, text]) => {
          // Any worker can write a report; a malformed one must not hide the others.
          const result = check(parseJsonOrNull(text))
          return result.ok ? [[name, result.value] as const] : []
        }),
      )
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
