import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'

const PlaceRow = Type.Object({
  accountId: Type.String(),
  engine: Type.String(),
  isBatch: Type.Boolean(),
  /** Number of products of an outfit; 1 for a single product. */
  layers: Type.Integer(),
  /** Time since which the generation could have been started. */
  since: Timestamp,
  /** Queued jobs that run before this generation. */
  queued: Type.Integer(),
  /** Waiting jobs of the same account that the relay dispatches first; null when this generation is already queued. */
  earlier: Type.Union([Type.Integer(), Type.Null()]),
  /**
   * Queued and running jobs of the same account that count for this generation's turn: batch jobs count only for batch
   * jobs.
   */
  turnsTaken: Type.Integer(),
})
export type Place = Static<typeof PlaceRow>

const LineRow = Type.Object({
  accountId: Type.String(),
  isBatch: Type.Boolean(),
  /** Jobs in the queue or running. */
  inLane: Type.Integer(),
  /** Turns before the first waiting job: queued and running jobs, and jobs of the same account with precedence. */
  turnsTaken: Type.Integer(),
  waiting: Type.Integer(),
  /** Time since which the first waiting job has waited; null when no job waits. */
  oldest: Type.Unsafe<Date | null>({}),
})
/** Jobs of one account for an engine and priority. */
export type Line = Static<typeof LineRow>

const SecondsRow = Type.Object({
  mean: Nullable(Type.Number()),
  deviation: Nullable(Type.Number()),
  /** Mean of a layer that was made and not reused; a generation of one product has one. */
  layerMean: Nullable(Type.Number()),
})

/** Maximum number of waiting jobs counted per account. */
const MAX_COUNTED = 10_000
/** Maximum number of completed generations in the mean. */
const MAX_SAMPLES = 50

const countLayers = sql.fragment`coalesce(jsonb_array_length(layers), 1)`

export type Waiting = ReturnType<typeof createWaiting>

/** Queue positions and durations of waiting generations. */
export function createWaiting(database: Database) {
  return {
    /** Place of a generation in the queue of its engine; null when the generation no longer waits. */
    findPlace: (generationId: string): Promise<Place | null> =>
      database.maybeOne(sql.type(rowType(PlaceRow))`
        select mine.account_id as "accountId", mine.engine_name as engine, mine.is_batch as "isBatch",
          ${countLayers} as layers, mine.available_at as since, (
            select count(*) from outbox join generations on generations.id = outbox.generation_id
            where outbox.engine_name = mine.engine_name and outbox.dispatched_at is not null and status = 'PENDING' and (mine.dispatched_at is null
              or (outbox.dispatched_at, outbox.generation_id) < (mine.dispatched_at, mine.generation_id))
          ) as queued,
          case when mine.dispatched_at is null then (
            select count(*) from (
              select from outbox
              where outbox.account_id = mine.account_id and outbox.engine_name = mine.engine_name and outbox.dispatched_at is null
                and (outbox.is_batch, outbox.available_at, outbox.generation_id) < (mine.is_batch, mine.available_at, mine.generation_id)
              limit ${MAX_COUNTED}) as earlier) end as earlier, (
            select count(*) from outbox
            where outbox.account_id = mine.account_id and outbox.engine_name = mine.engine_name
              and outbox.dispatched_at is not null and (mine.is_batch or not outbox.is_batch)
          ) as "turnsTaken"
        from outbox as mine join generations on generations.id = mine.generation_id
        where mine.generation_id = ${generationId} and status = 'PENDING'`),

    /** Lines of all accounts with jobs for this engine. */
    findLines: (engine: string): Promise<readonly Line[]> =>
      database.any(sql.type(rowType(LineRow))`
        select account_id as "accountId", is_batch as "isBatch",
          (sum(count(*)) over (partition by account_id order by is_batch))::int
            - count(*) filter (where dispatched_at is null) as "turnsTaken",
          count(dispatched_at) as "inLane", count(*) filter (where dispatched_at is null) as waiting,
          min(available_at) filter (where dispatched_at is null) as oldest
        from outbox where engine_name = ${engine} group by account_id, is_batch`),

    /**
     * Mean and standard deviation of the worker seconds of recent generations by this engine; null when there are too
     * few.
     */
    measureSeconds: (engine: string): Promise<Static<typeof SecondsRow>> =>
      database.one(sql.type(rowType(SecondsRow))`
        select avg(seconds)::float8 as mean, stddev_samp(seconds)::float8 as deviation,
          (sum(seconds) filter (where is_made) / sum(layers) filter (where is_made))::float8 as "layerMean"
        from (
          select extract(epoch from finished_at - started_at) as seconds, ${countLayers} as layers, reused_from is null as is_made
          from generations
          where engine = ${engine} and status = 'COMPLETED' order by finished_at desc limit ${MAX_SAMPLES}) as recent`),
  }
}
