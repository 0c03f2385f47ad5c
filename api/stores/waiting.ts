import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const PlaceRow = Type.Object({
  accountId: Type.String(),
  engine: Type.String(),
  isBatch: Type.Boolean(),
  /** When it could have been started at first. */
  since: Timestamp,
  /** Those in the queue, as far as they stand before it. */
  queued: Type.Integer(),
  /** Those of its account that the relay takes before it; null when it is in the queue itself. */
  earlier: Type.Union([Type.Integer(), Type.Null()]),
  /** Of its account, in the queue or running, as far as they count for its turn: batch jobs count for batch jobs alone. */
  handed: Type.Integer(),
})
export type Place = Static<typeof PlaceRow>

const LineRow = Type.Object({
  accountId: Type.String(),
  isBatch: Type.Boolean(),
  /** In the queue or running. */
  inLane: Type.Integer(),
  /** Turns before the first of those that wait: for jobs in the queue or running, and for those of its account that go first. */
  handed: Type.Integer(),
  waiting: Type.Integer(),
  /** Since when the first of those that wait does so; null when none does. */
  oldest: Type.Unsafe<Date | null>({}),
})
/** What one account has in line for an engine, of one priority. */
export type Line = Static<typeof LineRow>

const SecondsRow = Type.Object({ mean: Nullable(Type.Number()), deviation: Nullable(Type.Number()) })

/** Places further back in an account's own queue are not counted. */
const COUNTED = 10_000
/** Completed generations that the mean is taken of, found among the latest of all engines. */
const SAMPLE = 50
const SEARCHED = 1000

export type Waiting = ReturnType<typeof createWaiting>

/** What can be known of generations that wait. */
export function createWaiting(database: Database) {
  return {
    /** Its place among those of its engine; null when the generation does not wait any more. */
    findPlace: (generationId: string): Promise<Place | null> =>
      database.maybeOne(sql.type(rowType(PlaceRow))`
        select mine.account_id as "accountId", mine.engine_name as engine, mine.is_batch as "isBatch",
          mine.available_at as since, (
            select count(*) from outbox join generations on generations.id = outbox.generation_id
            where outbox.engine_name = mine.engine_name and outbox.dispatched_at is not null and status = 'PENDING' and (mine.dispatched_at is null
              or (outbox.dispatched_at, outbox.generation_id) < (mine.dispatched_at, mine.generation_id))
          ) as queued,
          case when mine.dispatched_at is null then (
            select count(*) from (
              select from outbox
              where outbox.account_id = mine.account_id and outbox.engine_name = mine.engine_name and outbox.dispatched_at is null
                and (outbox.is_batch, outbox.available_at, outbox.generation_id) < (mine.is_batch, mine.available_at, mine.generation_id)
              limit ${COUNTED}) as earlier) end as earlier, (
            select count(*) from outbox
            where outbox.account_id = mine.account_id and outbox.engine_name = mine.engine_name
              and outbox.dispatched_at is not null and (mine.is_batch or not outbox.is_batch)
          ) as handed
        from outbox as mine join generations on generations.id = mine.generation_id
        where mine.generation_id = ${generationId} and status = 'PENDING'`),

    /** The lines of all accounts that have one for this engine. */
    findLines: (engine: string): Promise<readonly Line[]> =>
      database.any(sql.type(rowType(LineRow))`
        select account_id as "accountId", is_batch as "isBatch",
          (sum(count(*)) over (partition by account_id order by is_batch))::int
            - count(*) filter (where dispatched_at is null) as handed,
          count(dispatched_at) as "inLane", count(*) filter (where dispatched_at is null) as waiting,
          min(available_at) filter (where dispatched_at is null) as oldest
        from outbox where engine_name = ${engine} group by account_id, is_batch`),

    /**
     * Mean and standard deviation of the seconds that recent generations by this engine took a worker; null when there are too
     * few.
     */
    measureSeconds: (engine: string): Promise<Static<typeof SecondsRow>> =>
      database.one(sql.type(rowType(SecondsRow))`
        select avg(seconds)::float8 as mean, stddev_samp(seconds)::float8 as deviation from (
          select extract(epoch from finished_at - started_at) as seconds from (
            select engine, started_at, finished_at from generations where status = 'COMPLETED'
            order by finished_at desc limit ${SEARCHED}) as latest
          where engine = ${engine} limit ${SAMPLE}) as recent`),
  }
}
