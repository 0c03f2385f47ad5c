import { compileCheck, Nullable, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { DEMAND_CHANNEL, type QueuedTryOn, QueuedTryOnSchema } from '../shared/generations/generation.ts'

const Claimed = rowType(
  Type.Object({
    room: Nullable(Type.Integer()),
    /** IDs of the chosen jobs, in order. */
    ids: Type.Array(Type.String()),
    /** Those that were claimed, by ID. */
    jobs: Type.Record(Type.String(), Type.Unknown()),
  }),
)
const checkJob = compileCheck(QueuedTryOnSchema)
const UnstartedRow = rowType(
  Type.Object({ generationId: Type.String(), attempt: Type.Integer(), queue: Type.String() }),
)

export type Outbox = ReturnType<typeof createOutbox>

export interface Claim {
  readonly jobs: readonly QueuedTryOn[]
  /** Validation problems of jobs that no queue can hold. These jobs block no other job and fail at their deadline. */
  readonly problems: readonly string[]
  /**
   * Number of further jobs that fit into the queue before the queue reaches `depth`; null while another relay claims.
   */
  readonly room: number | null
}

export interface ClaimOptions {
  readonly queue: string
  /** Engines that the workers of the queue run. */
  readonly engines: readonly string[]
  readonly limit: number
  readonly depth: number
}

/** Advisory lock of the relays. Must be unique within the database. */
const CLAIM_LOCK = 7_201_430_002

/**
 * After this wait, an account's oldest batch job of an engine counts as interactive, unless the engine queue already has batch
 * work of that account and engine. Batch work thus progresses one job at a time, however much interactive work arrives.
 */
export const MAX_STEP_BACK_SECONDS = 60

/** Outbox of the jobs that have not ended. */
export function createOutbox(database: Database) {
  return {
    /**
     * Claims up to `limit` jobs for a engine queue and keeps at most `depth` jobs waiting for a worker. Accounts take turns,
     * and the engines of one account take turns; jobs that are already in the engine queue count. The backlog of one account
     * comes after the first job of every other account, and the backlog for one engine after the first job for every
     * other engine. Batch jobs come after the interactive jobs of their account; batch jobs in the engine queue do not count
     * for the turns of interactive jobs. One relay claims at a time.
     *
     * Arrays instead of joins: Postgres expects 1 job where there are 1,000, so that it would compare each with each. Rows are found again
     * by their places (`ctid`), and only what the queue holds leaves the database: both take a third of the time of a claim. A row that is
     * changed meanwhile has another place; the next claim finds it.
     */
    claim: async ({ queue, engines, limit, depth }: ClaimOptions): Promise<Claim> => {
      const { room, ids, jobs } = await database.one(sql.type(Claimed)`
        with recursive dispatched as materialized (
          select account_id, engine_name as engine, count(*) as jobs, count(*) filter (where is_batch) as batch_jobs from outbox
          where dispatched_at is not null and queue = ${queue} group by account_id, engine_name
        ), room as materialized (
          select case when ${limit} + coalesce((select sum(jobs) from dispatched), 0) <= ${depth} then ${limit}
            else least(${limit}, greatest(0, ${depth} - (
              select count(*) from outbox
              where dispatched_at is not null and queue = ${queue} and 'PENDING' = (
                select status from generations where generations.id = outbox.generation_id limit 1)))) end as places
          where pg_try_advisory_xact_lock(${CLAIM_LOCK})
        ), waiting (engine, account_id) as (
          select wanted.engine, (select account_id from outbox where dispatched_at is null and outbox.engine_name = wanted.engine
            order by account_id limit 1)
          from unnest(${sql.array([...engines], 'text')}) as wanted (engine), room where places > 0
          union all
          select waiting.engine, (select account_id from outbox
            where dispatched_at is null and outbox.engine_name = waiting.engine and outbox.account_id > waiting.account_id
            order by account_id limit 1)
          from waiting where waiting.account_id is not null
        ), lines as materialized (
          select account_id, engine, coalesce(jobs, 0) as jobs, coalesce(batch_jobs, 0) as batch_jobs
          from waiting left join dispatched using (account_id, engine)
          where account_id is not null
        ), next as (
          select lines.account_id, job.*, case when steps_back then jobs else jobs - batch_jobs end + job.place as engine_turn
          from lines cross join (values (false), (true)) as class (is_batch) cross join lateral (
            select tid, generation_id, available_at, created_at, place, class.is_batch and not (place = 1 and lines.batch_jobs = 0
              and created_at < now() - make_interval(secs => ${MAX_STEP_BACK_SECONDS})) as steps_back
            from (
              select ctid as tid, generation_id, available_at, created_at, row_number() over (order by available_at, generation_id) as place
              from outbox
              where outbox.account_id = lines.account_id and outbox.engine_name = lines.engine and dispatched_at is null
                and outbox.is_batch = class.is_batch and available_at <= now()
              order by available_at, generation_id limit (select places from room)) as first
          ) as job
        ), accounts_dispatched as materialized (
          select account_id, sum(jobs) as jobs, sum(jobs - batch_jobs) as interactive_jobs from dispatched group by account_id
        ), turns as (
          select tid, generation_id, created_at, steps_back,
            coalesce(case when steps_back then accounts_dispatched.jobs else interactive_jobs end, 0)
              + row_number() over (partition by next.account_id order by steps_back, engine_turn, available_at, generation_id) as turn
          from next left join accounts_dispatched using (account_id)
        ), chosen as materialized (
          select coalesce(array_agg(tid), '{}') as tids, coalesce(array_agg(generation_id), '{}') as ids
          from (select tid, generation_id from turns order by turn, steps_back, created_at limit (select places from room)) as first
        ), locked as (
          select ctid as tid from outbox
          where ctid = any((select tids from chosen)::tid[]) and dispatched_at is null
          for update skip locked
        ), claimed as (
          update outbox set dispatched_at = now(), queue = ${queue}
          where ctid = any(array(select tid from locked))
          returning generation_id, json_build_object('generationId', generation_id, 'attempt', payload->'attempt',
            'engine', engine_name, 'failedOn', coalesce(payload->'failedOn', '[]'), 'traceparent', payload->'traceparent') as job
        )
        select (select places from room) as room, (select ids from chosen) as ids,
          coalesce(json_object_agg(generation_id, job), '{}') as jobs from claimed`)
      const checked = ids.flatMap((id) => (jobs[id] === undefined ? [] : [checkJob(jobs[id])]))
      return {
        jobs: checked.flatMap((check) => (check.ok ? [check.value] : [])),
        problems: checked.flatMap((check) =>
          check.ok ? [] : [check.problems.map(({ path, message }) => `${path} ${message}`).join('; ')],
        ),
        room: room === null ? null : room - checked.length,
      }
    },

    /** Returns jobs that could not be enqueued to the outbox. */
    release: async (generationIds: readonly string[]): Promise<void> => {
      await database.query(sql.unsafe`
        update outbox set dispatched_at = null where generation_id = any(${sql.array([...generationIds], 'text')})`)
    },

    /** Jobs that were dispatched more than `olderThanSeconds` ago and that no worker has started. */
    findUnstarted: (olderThanSeconds: number, limit: number) =>
      database.any(sql.type(UnstartedRow)`
        select outbox.generation_id as "generationId", generations.attempt, outbox.queue
        from outbox join generations on generations.id = outbox.generation_id
        where dispatched_at < now() - make_interval(secs => ${olderThanSeconds}) and status = 'PENDING'
        order by dispatched_at limit ${limit}`),

    /**
     * Notifies the controller of new demand. Runs outside the accepting transaction, because NOTIFY serializes commits.
     */
    notifyDemand: async (): Promise<void> => {
      await database.query(sql.unsafe`select pg_notify(${DEMAND_CHANNEL}, '')`)
    },
  }
}
