import { Nullable, Type } from '../../../api/shared/contract/schema.ts'
import { TEST_ENGINE } from '../../../api/shared/contract/test-mode.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { engineFacts } from '../../../api/shared/engines/engine-catalogue.ts'
import type { Demand } from '../scaling/decide.ts'

const DemandRow = rowType(
  Type.Object({
    engine: Type.String(),
    waiting: Type.Integer(),
    inFlight: Type.Integer(),
    oldestWaitSeconds: Type.Number(),
    secondsPerJob: Nullable(Type.Number()),
  }),
)

/** Number of completed generations of an engine for the mean duration. */
const SAMPLE = 200

/** Assumed slot seconds per prepared photo; not measured. */
const PREPARE_SECONDS = 1

/** The queue of photos to prepare, for pools with the queue `prepare`. Engine names contain no underscore. */
export const PREPARE_QUEUE = '_prepare'

/** Demand by queue: by engine, and for photos to prepare. */
export type DemandByEngine = ReadonlyMap<string, Demand>

/**
 * Reads the waiting and running generations and their expected duration from Postgres, and the photos to prepare through `countPrepare`.
 * A generation is expected to take as long as recent ones of its engine, mode and resolution; without them, as long as recent ones of
 * its engine; without any, as the catalogue of engines says.
 */
export async function readDemand(
  database: Database,
  countPrepare: () => Promise<Pick<Demand, 'waiting' | 'inFlight'>>,
): Promise<DemandByEngine> {
  const [prepare, work] = await Promise.all([
    countPrepare(),
    database.any(sql.type(DemandRow)`
      with unfinished as (
        select engine, options->'mode' as mode, options->'fullResolution' as resolution,
          count(*) filter (where status = 'PENDING') as waiting, count(*) filter (where status = 'PROCESSING') as in_flight,
          min(outbox.created_at) filter (where status = 'PENDING') as oldest
        from outbox join generations on generations.id = outbox.generation_id
        where engine <> ${TEST_ENGINE}
        group by 1, 2, 3
      ), paced as (
        select unfinished.*, (
          select coalesce(
            avg(seconds) filter (where recent.mode = unfinished.mode and recent.resolution = unfinished.resolution), avg(seconds))
          from (
            select options->'mode' as mode, options->'fullResolution' as resolution,
              extract(epoch from finished_at - started_at) as seconds
            from generations where engine = unfinished.engine and status = 'COMPLETED' and started_at is not null
            order by finished_at desc limit ${SAMPLE}) as recent) as seconds
        from unfinished
      )
      select engine, sum(waiting)::int as waiting, sum(in_flight)::int as "inFlight",
        coalesce(greatest(extract(epoch from clock_timestamp() - min(oldest)), 0), 0)::float8 as "oldestWaitSeconds",
        (sum((waiting + in_flight) * seconds) / nullif(sum(waiting + in_flight), 0))::float8 as "secondsPerJob"
      from paced
      group by engine`),
  ])
  const queues = work.map(({ engine, secondsPerJob, ...counts }): [string, Demand] => [
    engine,
    { ...counts, secondsPerJob: secondsPerJob ?? engineFacts(engine).secondsPerJob },
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
    // Without jobs nothing depends on it.
    secondsPerJob: jobs === 0 ? 0 : work / jobs,
  }
}
