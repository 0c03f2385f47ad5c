import { Type } from '../../api/shared/contract/schema.ts'
import { TEST_ENGINE } from '../../api/shared/contract/test-mode.ts'
import { type Database, rowType, sql } from '../../api/shared/database/database.ts'
import type { Demand } from './decide.ts'

const DemandRow = rowType(
  Type.Object({
    engine: Type.String(),
    waiting: Type.Integer(),
    inFlight: Type.Integer(),
    oldestWaitSeconds: Type.Number(),
  }),
)
const PaceRow = rowType(Type.Object({ engine: Type.String(), seconds: Type.Number() }))

/** Number of completed generations for the mean duration. */
const SAMPLE = 200
/** Default seconds of a generation without a measurement. */
const UNMEASURED_SECONDS = 3

/** Assumed slot seconds per prepared photo; not measured. */
const PREPARE_SECONDS = 1

/** The queue of photos to prepare, for pools with the queue `prepare`. Engine names contain no underscore. */
export const PREPARE_QUEUE = '_prepare'

/** Demand by queue: by engine, and for photos to prepare. */
export type DemandByEngine = ReadonlyMap<string, Demand>

/**
 * Reads the waiting and running generations and the duration of recent generations from Postgres, and the photos to prepare
 * through `countPrepare`.
 */
export async function readDemand(
  database: Database,
  countPrepare: () => Promise<Pick<Demand, 'waiting' | 'inFlight'>>,
): Promise<DemandByEngine> {
  const [prepare, work, paces] = await Promise.all([
    countPrepare(),
    database.any(sql.type(DemandRow)`
      select generations.engine, count(*) filter (where status = 'PENDING') as waiting,
        count(*) filter (where status = 'PROCESSING') as "inFlight",
        coalesce(greatest(extract(epoch from clock_timestamp()
          - min(outbox.created_at) filter (where status = 'PENDING')), 0), 0)::float8 as "oldestWaitSeconds"
      from outbox join generations on generations.id = outbox.generation_id
      where generations.engine <> ${TEST_ENGINE}
      group by generations.engine`),
    database.any(sql.type(PaceRow)`
      select engine, avg(extract(epoch from finished_at - started_at))::float8 as seconds from (
        select engine, started_at, finished_at from generations
        where status = 'COMPLETED' and started_at is not null and engine <> ${TEST_ENGINE} order by finished_at desc limit ${SAMPLE}) as recent
      group by engine`),
  ])
  const seconds = new Map(paces.map((pace) => [pace.engine, pace.seconds]))
  const queues = work.map(({ engine, ...counts }): [string, Demand] => [
    engine,
    { ...counts, secondsPerJob: seconds.get(engine) ?? UNMEASURED_SECONDS },
  ])
  return new Map([...queues, [PREPARE_QUEUE, { ...prepare, oldestWaitSeconds: 0, secondsPerJob: PREPARE_SECONDS }]])
}

/** The total demand of several queues. */
export function sumDemand(parts: readonly Demand[]): Demand {
  const jobs = parts.reduce((sum, { waiting, inFlight }) => sum + waiting + inFlight, 0)
  const work = parts.reduce((sum, part) => sum + (part.waiting + part.inFlight) * part.secondsPerJob, 0)
  return {
    waiting: parts.reduce((sum, { waiting }) => sum + waiting, 0),
    inFlight: parts.reduce((sum, { inFlight }) => sum + inFlight, 0),
    oldestWaitSeconds: Math.max(0, ...parts.map(({ oldestWaitSeconds }) => oldestWaitSeconds)),
    secondsPerJob: jobs === 0 ? UNMEASURED_SECONDS : work / jobs,
  }
}
