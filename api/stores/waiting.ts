import { type Database, rowType, sql } from '../shared/database.ts'
import { Type } from '../shared/schema.ts'

const Ahead = rowType(Type.Object({ ahead: Type.Integer() }))
const Mean = rowType(Type.Object({ seconds: Type.Union([Type.Number(), Type.Null()]) }))

/** Further back in an account's own line nobody counts: a position of more says "long" all the same. */
const COUNTED = 1000
/** Completed generations that an estimate is made from. */
const SAMPLE = 50

export type Waiting = ReturnType<typeof createWaiting>

/** What can be said of generations that wait. */
export function createWaiting(database: Database) {
  return {
    /**
     * How many waiting generations will be started before this one if nothing else comes in: those in the queue already, then
     * those that the relay admits before it, where accounts take turns. Null when it does not wait any more.
     */
    countAhead: (generationId: string): Promise<number | null> =>
      database.maybeOneFirst(sql.type(Ahead)`
        with recursive mine as (
          select outbox.generation_id, outbox.account_id, available_at, dispatched_at, outbox.created_at
          from outbox join generations on generations.id = outbox.generation_id
          where generation_id = ${generationId} and status = 'PENDING'
        ), queued as (
          select outbox.account_id, (outbox.dispatched_at, outbox.generation_id) as place
          from outbox join generations on generations.id = outbox.generation_id
          where dispatched_at is not null and status = 'PENDING'
        ), turn as (
          select mine.account_id, mine.created_at, mine.generation_id, (
              select count(*) from outbox where outbox.account_id = mine.account_id and dispatched_at is not null
            ) + (
              select count(*) from (
                select from outbox
                where outbox.account_id = mine.account_id and dispatched_at is null
                  and (outbox.available_at, outbox.generation_id) < (mine.available_at, mine.generation_id)
                limit ${COUNTED}) as earlier
            ) + 1 as turn
          from mine where dispatched_at is null
        ), others (account_id) as (
          (select account_id from outbox where dispatched_at is null order by account_id limit 1)
          union all
          select (select account_id from outbox where dispatched_at is null and outbox.account_id > others.account_id
            order by account_id limit 1)
          from others where others.account_id is not null
        ), admitted as (
          select count(*) as count
          from turn, others cross join lateral (
            select next.created_at, next.generation_id,
              (select count(*) from outbox where outbox.account_id = others.account_id and dispatched_at is not null)
                + row_number() over (order by available_at, generation_id) as turn
            from (
              select created_at, generation_id, available_at from outbox
              where outbox.account_id = others.account_id and dispatched_at is null and available_at <= now()
              order by available_at, generation_id limit turn.turn
            ) as next
          ) as next
          where others.account_id is not null
            and (next.turn, next.created_at, next.generation_id) < (turn.turn, turn.created_at, turn.generation_id)
        )
        select (select count(*) from queued
            where mine.dispatched_at is null or place < (mine.dispatched_at, mine.generation_id))
          + (select count from admitted) as ahead
        from mine`),

    /** Mean seconds that recent generations took a worker; null when there are none. */
    measureSeconds: (): Promise<number | null> =>
      database.oneFirst(sql.type(Mean)`
        select avg(extract(epoch from finished_at - started_at))::float8 as seconds from (
          select started_at, finished_at from generations where status = 'COMPLETED'
          order by finished_at desc limit ${SAMPLE}) as recent`),
  }
}
