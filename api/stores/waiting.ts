import { type Database, rowType, sql, Timestamp } from '../shared/database.ts'
import { type Static, Type } from '../shared/schema.ts'

const PlaceRow = Type.Object({
  accountId: Type.String(),
  /** When it could have been started at first. */
  since: Timestamp,
  /** Those in the queue, as far as they stand before it. */
  queued: Type.Integer(),
  /** Those of its account that the relay takes before it; null when it is in the queue itself. */
  earlier: Type.Union([Type.Integer(), Type.Null()]),
  /** Of its account, in the queue or running. */
  handed: Type.Integer(),
})
export type Place = Static<typeof PlaceRow>

const LineRow = Type.Object({
  accountId: Type.String(),
  /** In the queue or running. */
  handed: Type.Integer(),
  waiting: Type.Integer(),
  /** Since when the first of those that wait does so; null when none does. */
  oldest: Type.Unsafe<Date | null>({}),
})
/** What one account has in line. */
export type Line = Static<typeof LineRow>

const Mean = rowType(Type.Object({ seconds: Type.Union([Type.Number(), Type.Null()]) }))

/** Further back in an account's own line nobody counts. */
const COUNTED = 10_000
/** Completed generations that the mean is taken of. */
const SAMPLE = 50

export type Waiting = ReturnType<typeof createWaiting>

/** What can be known of generations that wait. */
export function createWaiting(database: Database) {
  return {
    /** Null when the generation does not wait any more. */
    findPlace: (generationId: string): Promise<Place | null> =>
      database.maybeOne(sql.type(rowType(PlaceRow))`
        select mine.account_id as "accountId", mine.available_at as since, (
            select count(*) from outbox join generations on generations.id = outbox.generation_id
            where outbox.dispatched_at is not null and status = 'PENDING' and (mine.dispatched_at is null
              or (outbox.dispatched_at, outbox.generation_id) < (mine.dispatched_at, mine.generation_id))
          ) as queued,
          case when mine.dispatched_at is null then (
            select count(*) from (
              select from outbox
              where outbox.account_id = mine.account_id and outbox.dispatched_at is null
                and (outbox.available_at, outbox.generation_id) < (mine.available_at, mine.generation_id)
              limit ${COUNTED}) as earlier) end as earlier, (
            select count(*) from outbox
            where outbox.account_id = mine.account_id and outbox.dispatched_at is not null
          ) as handed
        from outbox as mine join generations on generations.id = mine.generation_id
        where mine.generation_id = ${generationId} and status = 'PENDING'`),

    /** The lines of all accounts that have one. */
    findLines: (): Promise<readonly Line[]> =>
      database.any(sql.type(rowType(LineRow))`
        select account_id as "accountId", count(dispatched_at) as handed,
          count(*) filter (where dispatched_at is null) as waiting,
          min(available_at) filter (where dispatched_at is null) as oldest
        from outbox group by account_id`),

    /** Mean seconds that recent generations took a worker; null when there are none. */
    measureSeconds: (): Promise<number | null> =>
      database.oneFirst(sql.type(Mean)`
        select avg(extract(epoch from finished_at - started_at))::float8 as seconds from (
          select started_at, finished_at from generations where status = 'COMPLETED'
          order by finished_at desc limit ${SAMPLE}) as recent`),
  }
}
