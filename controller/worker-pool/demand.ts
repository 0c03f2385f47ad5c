import { type Database, rowType, sql } from '../../api/shared/database.ts'
import { Type } from '../../api/shared/schema.ts'
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

/** Completed generations that the pace is taken of. */
const SAMPLE = 200
/** Seconds of a generation before any was measured. */
const UNMEASURED_SECONDS = 3

/** What there is to do, by engine. */
export type DemandByEngine = ReadonlyMap<string, Demand>

/** Reads from Postgres what waits and runs now, and how long recent generations took. */
export async function readDemand(database: Database): Promise<DemandByEngine> {
  const [work, paces] = await Promise.all([
    database.any(sql.type(DemandRow)`
      select engine, count(*) filter (where status = 'PENDING') as waiting,
        count(*) filter (where status = 'PROCESSING') as "inFlight",
        coalesce(greatest(extract(epoch from clock_timestamp()
          - min(outbox.created_at) filter (where status = 'PENDING')), 0), 0)::float8 as "oldestWaitSeconds"
      from outbox join generations on generations.id = outbox.generation_id
      group by engine`),
    database.any(sql.type(PaceRow)`
      select engine, avg(extract(epoch from finished_at - started_at))::float8 as seconds from (
        select engine, started_at, finished_at from generations
        where status = 'COMPLETED' and started_at is not null order by finished_at desc limit ${SAMPLE}) as recent
      group by engine`),
  ])
  const seconds = new Map(paces.map((pace) => [pace.engine, pace.seconds]))
  return new Map(
    work.map(({ engine, ...counts }) => [
      engine,
      { ...counts, secondsPerJob: seconds.get(engine) ?? UNMEASURED_SECONDS },
    ]),
  )
}

/** What there is to do for those who run these engines. */
export function demandFor(engines: readonly string[], demand: DemandByEngine): Demand {
  const parts = engines.flatMap((engine) => demand.get(engine) ?? [])
  const jobs = parts.reduce((sum, { waiting, inFlight }) => sum + waiting + inFlight, 0)
  const work = parts.reduce((sum, part) => sum + (part.waiting + part.inFlight) * part.secondsPerJob, 0)
  return {
    waiting: parts.reduce((sum, { waiting }) => sum + waiting, 0),
    inFlight: parts.reduce((sum, { inFlight }) => sum + inFlight, 0),
    oldestWaitSeconds: Math.max(0, ...parts.map(({ oldestWaitSeconds }) => oldestWaitSeconds)),
    secondsPerJob: jobs === 0 ? UNMEASURED_SECONDS : work / jobs,
  }
}
