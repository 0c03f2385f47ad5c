import type { Redis } from './redis.ts'
import { compileCheck, type Static, Type } from './schema.ts'

/** The latest time that there is a date of, in ms since 1970. */
const MAX_TIME = 8.64e15
const TimeSchema = Type.Integer({ minimum: 0, maximum: MAX_TIME })

const ReportSchema = Type.Object({
  host: Type.String(),
  /** Says that it takes jobs, that it takes none any more, or that it has none left either. */
  state: Type.Enum(['taking', 'draining', 'drained']),
  /** Which request to drain it follows; null when it takes jobs. */
  fence: Type.Union([Type.Integer(), Type.Null()]),
  jobs: Type.Integer(),
  slots: Type.Integer(),
  /** Since when it has had no job, in ms since 1970; null while it has. */
  idleSince: Type.Union([TimeSchema, Type.Null()]),
  /** Why the worker has fenced itself for good; absent while its device works. */
  sick: Type.Optional(Type.Object({ reason: Type.String(), message: Type.String(), since: TimeSchema })),
})

/** What a worker of a pool says of itself. */
export type WorkerReport = Static<typeof ReportSchema>

/** The last order to a worker: to drain by the request of this number, or to take jobs again. */
export type DrainOrder = number | 'take'

export type PoolRegistry = ReturnType<typeof createPoolRegistry>

/** A report is good for so long. */
const REPORT_SECONDS = 10
const WORD_SECONDS = 3600
const REPORTS = 'drape:pool-workers'

/** What workers of pools and the controller report to each other. All of it may be lost with Redis. */
export function createPoolRegistry(redis: Redis) {
  const check = compileCheck(ReportSchema)
  const { client } = redis
  return {
    report: async (report: WorkerReport): Promise<void> => {
      const until = Date.now() + REPORT_SECONDS * 1000
      await client
        .multi()
        .set(reportKey(report.host), JSON.stringify(report), { expiration: { type: 'EX', value: REPORT_SECONDS } })
        .zAdd(REPORTS, { value: report.host, score: until })
        .execAsPipeline()
    },
    forget: async (host: string): Promise<void> => {
      await client.multi().del(reportKey(host)).zRem(REPORTS, host).execAsPipeline()
    },
    /** The last order to the worker on this host; null when there is none. */
    readOrder: async (host: string): Promise<DrainOrder | null> => {
      const word = await client.get(wordKey(host))
      if (word === null) return null
      return word === 'take' ? 'take' : Number(word)
    },
    /** All workers that have not gone silent, by host. */
    findWorkers: async (): Promise<Map<string, WorkerReport>> => {
      await client.zRemRangeByScore(REPORTS, 0, Date.now())
      const hosts = await client.zRange(REPORTS, 0, -1)
      if (hosts.length === 0) return new Map()
      const texts = await client.mGet(hosts.map(reportKey))
      const reports = texts.flatMap((text) => {
        const result = check(parse(text))
        return result.ok ? [result.value] : []
      })
      return new Map(reports.map((report) => [report.host, report]))
    },
    order: async (host: string, word: DrainOrder): Promise<void> => {
      await client.set(wordKey(host), String(word), { expiration: { type: 'EX', value: WORD_SECONDS } })
    },
  }
}

/** Any worker can write there; one that writes nonsense must not hide the others. */
function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}

function reportKey(host: string): string {
  return `drape:pool-worker:${host}`
}

function wordKey(host: string): string {
  return `drape:pool-word:${host}`
}
