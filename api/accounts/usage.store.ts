import { SERVICE_FAILURE_CODES } from '../shared/contract/error-codes.ts'
import type { ErrorCode } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { TEST_ENGINE } from '../shared/contract/test-mode.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'

const StepRow = Type.Object({
  at: Timestamp,
  completed: Type.Integer(),
  /** Failed because of the service. */
  failed: Type.Integer(),
  /** Failed because of their images. */
  refused: Type.Integer(),
  cancelled: Type.Integer(),
  unfinished: Type.Integer(),
  /** Credits spent, without refunds. */
  credits: Type.Integer(),
})
/** Generations accepted in one time step, by outcome. */
export type UsageStep = Static<typeof StepRow>

const FailureRow = Type.Object({
  code: Type.String(),
  /** Whether the service failed, or refused an image, or the try-on was cancelled. */
  kind: Type.Enum(['failed', 'refused', 'cancelled']),
  count: Type.Integer(),
})
export type FailureCount = Static<typeof FailureRow>

export interface Span {
  readonly hours: number
  readonly step: 'hour' | 'day'
  /** Restricts the query to this account. */
  readonly accountId?: string
}

const LatencyRow = Type.Object({
  at: Timestamp,
  /** Seconds from acceptance to result of completed generations; null without any. */
  p50: Nullable(Type.Number()),
  p95: Nullable(Type.Number()),
  p99: Nullable(Type.Number()),
})
export type Latency = Static<typeof LatencyRow>

const PlaceRow = Type.Object({
  engine: Type.String(),
  shopId: Nullable(Type.String()),
  domain: Nullable(Type.String()),
  /** Failed because of the service. */
  failed: Type.Integer(),
  /** All that have ended. */
  ended: Type.Integer(),
})
/** Generations of an engine for a shop; of the server API without a shop. */
export type PlaceFailures = Static<typeof PlaceRow>

const CANCELLED: ErrorCode = 'GENERATION_CANCELLED'
/** Of a failed generation: `failed` because of the service, `refused` because of its images, or `cancelled`. */
export const kindOfFailure = sql.fragment`
  case
    when error_code = ${CANCELLED} then 'cancelled'
    when coalesce(error_code, '') = any(${sql.array([...SERVICE_FAILURE_CODES, ''], 'text')}) then 'failed'
    else 'refused'
  end`

export type Usage = ReturnType<typeof createUsage>

/** Generation statistics over time. */
export function createUsage(database: Database) {
  return {
    /** One entry per step (UTC), from the first step to the current one, also for steps without generations. */
    countSteps: ({ hours, step, accountId }: Span): Promise<readonly UsageStep[]> =>
      database.any(sql.type(rowType(StepRow))`
        with steps as (
          ${stepsOf({ hours, step })}
        ), counted as (
          select date_trunc(${step}, created_at, 'UTC') as at, count(*) as generations, sum(cost) as cost,
            case when status = 'FAILED' then ${kindOfFailure} else status end as outcome
          from generations
          where created_at >= (select min(at) from steps) and ${ofAccount(accountId)}
          group by 1, 4
        )
        select at,
          coalesce(sum(generations) filter (where outcome = 'COMPLETED'), 0)::bigint as completed,
          coalesce(sum(generations) filter (where outcome = 'failed'), 0)::bigint as failed,
          coalesce(sum(generations) filter (where outcome = 'refused'), 0)::bigint as refused,
          coalesce(sum(generations) filter (where outcome = 'cancelled'), 0)::bigint as cancelled,
          coalesce(sum(generations) filter (where outcome in ('PENDING', 'PROCESSING')), 0)::bigint as unfinished,
          coalesce(sum(cost) filter (where outcome in ('COMPLETED', 'PENDING', 'PROCESSING')), 0)::bigint as credits
        from steps left join counted using (at) group by at order by at`),

    /** One entry per step (UTC), by the time of acceptance, from the first step to the current one. */
    measureLatency: ({ hours, step, accountId }: Span): Promise<readonly Latency[]> =>
      database.any(sql.type(rowType(LatencyRow))`
        with steps as (${stepsOf({ hours, step })}), measured as (
          select date_trunc(${step}, created_at, 'UTC') as at,
            percentile_cont(array[0.5, 0.95, 0.99]) within group (order by extract(epoch from finished_at - created_at)) as seconds
          from generations
          where status = 'COMPLETED' and created_at >= (select min(at) from steps) and ${ofAccount(accountId)}
          group by 1
        )
        select at, seconds[1] as p50, seconds[2] as p95, seconds[3] as p99
        from steps left join measured using (at) order by at`),

    /** Engines and shops with generations that the service failed, most failures first. */
    countPlaces: ({ hours, limit }: { hours: number; limit: number }): Promise<readonly PlaceFailures[]> =>
      database.any(sql.type(rowType(PlaceRow))`
        select engine, shop_id as "shopId", domain, failed, ended from (
          select engine, shop_id, count(*) as ended,
            count(*) filter (where status = 'FAILED' and ${kindOfFailure} = 'failed') as failed
          from generations
          where status in ('COMPLETED', 'FAILED') and created_at >= now() - make_interval(hours => ${hours}) and ${ofAccount(undefined)}
          group by 1, 2
        ) as places left join shops on shops.id = shop_id
        where failed > 0 order by failed desc, engine, domain limit ${limit}`),

    /** Counts of the error codes of generations accepted in the last `hours`, most frequent first. */
    countFailures: ({ hours, accountId }: Pick<Span, 'hours' | 'accountId'>): Promise<readonly FailureCount[]> =>
      database.any(sql.type(rowType(FailureRow))`
        select coalesce(error_code, 'unknown') as code, ${kindOfFailure} as kind, count(*) from generations
        where status = 'FAILED' and created_at >= now() - make_interval(hours => ${hours}) and ${ofAccount(accountId)}
        group by 1, 2 order by 3 desc, 1`),
  }
}

function stepsOf({ hours, step }: Pick<Span, 'hours' | 'step'>) {
  return sql.fragment`
    select generate_series(
      date_trunc(${step}, now() - make_interval(hours => ${hours}), 'UTC') + ${`1 ${step}`}::interval,
      date_trunc(${step}, now(), 'UTC'), ${`1 ${step}`}::interval) as at`
}

function ofAccount(accountId: string | undefined) {
  return accountId === undefined ? sql.fragment`engine <> ${TEST_ENGINE}` : sql.fragment`account_id = ${accountId}`
}
