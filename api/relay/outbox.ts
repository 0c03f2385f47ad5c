import { type Database, rowType, sql } from '../shared/database.ts'
import { DEMAND_CHANNEL, type TryOnJob, TryOnJobSchema } from '../shared/generation.ts'
import { Nullable, Type } from '../shared/schema.ts'

const Claimed = rowType(Type.Object({ room: Nullable(Type.Integer()), jobs: Type.Array(TryOnJobSchema) }))
const Unsure = rowType(Type.Object({ generationId: Type.String(), attempt: Type.Integer() }))

export type Outbox = ReturnType<typeof createOutbox>

export interface Claim {
  readonly jobs: readonly TryOnJob[]
  /** How many more may be handed to the queue before it is as deep as was asked; null when another relay is at it. */
  readonly room: number | null
}

/** Any number that no other program takes in this database. */
const CLAIM_LOCK = 7_201_430_002

/** The relay's view of the work that is not finished. */
export function createOutbox(database: Database) {
  return {
    /**
     * Takes up to `limit` jobs and no more than leave `depth` of them waiting for a worker; fairly: accounts take turns,
     * counting what each has in the queue already, so that one account's backlog, however long, stands behind another's first
     * job. Of several relays one does at a time.
     */
    claim: async ({ limit, depth }: { limit: number; depth: number }): Promise<Claim> => {
      const { room, jobs } = await database.one(sql.type(Claimed)`
        with recursive handed as materialized (
          select account_id, count(*) as jobs from outbox where dispatched_at is not null group by account_id
        ), room as materialized (
          select case when ${limit} + coalesce((select sum(jobs) from handed), 0) <= ${depth} then ${limit}
            else least(${limit}, greatest(0, ${depth} - (
              select count(*) from outbox
              where dispatched_at is not null and 'PENDING' = (
                select status from generations where generations.id = outbox.generation_id limit 1)))) end as places
          where pg_try_advisory_xact_lock(${CLAIM_LOCK})
        ), waiting (account_id) as (
          (select account_id from outbox, room where dispatched_at is null and places > 0 order by account_id limit 1)
          union all
          select (select account_id from outbox where dispatched_at is null and outbox.account_id > waiting.account_id
            order by account_id limit 1)
          from waiting where waiting.account_id is not null
        ), lines as materialized (
          select waiting.account_id, coalesce(jobs, 0) as handed
          from waiting left join handed on handed.account_id = waiting.account_id
          where waiting.account_id is not null
        ), turns as (
          select next.generation_id, next.created_at, handed + next.position as turn
          from lines cross join lateral (
            select generation_id, created_at, row_number() over (order by available_at, generation_id) as position
            from outbox
            where outbox.account_id = lines.account_id and dispatched_at is null and available_at <= now()
            order by available_at, generation_id limit (select places from room)
          ) as next
        ), chosen as (
          select generation_id from turns order by turn, created_at limit (select places from room)
        ), locked as (
          select outbox.generation_id from outbox join chosen using (generation_id)
          where dispatched_at is null
          for update of outbox skip locked
        ), claimed as (
          update outbox set dispatched_at = now() from locked where outbox.generation_id = locked.generation_id
          returning payload
        )
        select (select places from room) as room, coalesce(json_agg(payload), '[]') as jobs from claimed`)
      return { jobs, room: room === null ? null : room - jobs.length }
    },

    /** Puts jobs back that could not be handed to the queue. */
    release: async (generationIds: readonly string[]): Promise<void> => {
      await database.query(sql.unsafe`
        update outbox set dispatched_at = null where generation_id = any(${sql.array([...generationIds], 'text')})`)
    },

    /** Jobs that were handed over some seconds ago and that no worker has started. */
    findUnstarted: (olderThanSeconds: number, limit: number) =>
      database.any(sql.type(Unsure)`
        select outbox.generation_id as "generationId", generations.attempt
        from outbox join generations on generations.id = outbox.generation_id
        where dispatched_at < now() - make_interval(secs => ${olderThanSeconds}) and status = 'PENDING'
        order by dispatched_at limit ${limit}`),

    /** Tells whoever scales the workers that there is work. Not where it is accepted: telling makes commits wait in line. */
    tellDemand: async (): Promise<void> => {
      await database.query(sql.unsafe`select pg_notify(${DEMAND_CHANNEL}, '')`)
    },
  }
}
