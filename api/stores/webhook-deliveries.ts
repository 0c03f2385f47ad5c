import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'
import { LiveSecrets, openSecrets } from './live-secrets.ts'

const ClaimedRow = Type.Object({
  id: Type.Integer(),
  eventId: Type.String(),
  type: Type.String(),
  data: Json,
  happenedAt: Timestamp,
  /** That were made before this one. */
  attempts: Type.Integer(),
  endpointId: Type.String(),
  accountId: Type.String(),
  url: Type.String(),
  /** As stored: `openSecrets` opens them. */
  secrets: LiveSecrets,
  claimedAt: Timestamp,
})
/** A delivery that is to be made now, and all that it takes. */
export type ClaimedDelivery = Static<typeof ClaimedRow>

/** At the same time from one process to one endpoint; as long as nothing gets through, one after the other. */
const AT_ONCE = 8

export interface FailedAttempt {
  readonly status: number | null
  readonly reason: string
  /** Until the next attempt; null when there is none. */
  readonly retrySeconds: number | null
  /** Takes the endpoint out of use at once. */
  readonly isGone: boolean
  /** How long the endpoint is left alone, at least. */
  readonly pauseSeconds: number
  /** How long it is left alone when it was in trouble, doubled each time up to the longest; null when it was not. */
  readonly rest: { readonly firstSeconds: number; readonly longestSeconds: number } | null
  /** An endpoint that takes nothing for so long is taken out of use. */
  readonly disableAfterDays: number
}

export type WebhookDeliveries = ReturnType<typeof createWebhookDeliveries>

/** Deliveries on their way. */
export function createWebhookDeliveries(database: Database) {
  return {
    /**
     * Claims up to `limit` due deliveries for `leaseSeconds`, in turn from each endpoint that is active and not paused.
     * `underWay` counts the deliveries of this process by endpoint.
     */
    claim: (options: ClaimOptions): Promise<readonly ClaimedDelivery[]> => claimDeliveries(database, options),

    /** The secrets that sign a delivery, newest first. Throws when they cannot be opened now. */
    openSecrets: async ({ endpointId, secrets }: ClaimedDelivery): Promise<string[]> => {
      const opened = await openSecrets(database, secrets, { table: 'webhook_endpoints', id: endpointId })
      return opened.map(({ secret }) => secret)
    },

    /** It was taken. Whom it named of persons is forgotten. */
    noteDelivered: async (id: number, status: number): Promise<void> => {
      await database.query(sql.unsafe`
        with delivered as (
          update webhook_deliveries
          set status = 'delivered', attempts = attempts + 1, last_attempt_at = now(), last_status = ${status}, last_error = null,
            ended_at = now(), data = case when type <> 'customer.erased' then data end
          where id = ${id} and status = 'waiting'
          returning endpoint_id
        )
        update webhook_endpoints set failing_since = null, failures = 0, paused_until = null from delivered
        where webhook_endpoints.id = endpoint_id and failing_since is not null`)
    },

    /** It was not taken. Returns whether that has taken the endpoint out of use, and why. */
    noteFailed: async (id: number, attempt: FailedAttempt): Promise<{ disabledReason: string | null }> => {
      const { status, reason, retrySeconds, isGone } = attempt
      const disabled = await database.maybeOneFirst(sql.type(Disabled)`
        with noted as (
          update webhook_deliveries
          set attempts = attempts + 1, last_attempt_at = now(), last_status = ${status}, last_error = ${reason},
            status = ${retrySeconds === null || isGone ? 'failed' : 'waiting'},
            ended_at = ${retrySeconds === null || isGone ? sql.fragment`now()` : sql.fragment`null`},
            next_attempt_at = now() + make_interval(secs => ${retrySeconds ?? 0})
          where id = ${id} and status = 'waiting'
          returning endpoint_id
        ), endpoint as (
          select webhook_endpoints.id, ${whyDisabled(attempt)} as reason, paused_until is null or paused_until <= now() as is_awake
          from noted join webhook_endpoints on webhook_endpoints.id = endpoint_id for no key update of webhook_endpoints
        )
        update webhook_endpoints
        set is_active = is_active and reason is null,
          disabled_at = case when reason is null then disabled_at else now() end,
          disabled_reason = coalesce(reason, disabled_reason),
          failing_since = coalesce(failing_since, now()),
          ${restAfter(attempt)}
        from endpoint where webhook_endpoints.id = endpoint.id
        returning reason`)
      return { disabledReason: disabled }
    },

    /** They were not made after all: any process may take them at once. */
    release: async (ids: readonly number[]): Promise<void> => {
      await database.query(sql.unsafe`
        update webhook_deliveries set next_attempt_at = now()
        where id = any(${sql.array([...ids], 'int8')}) and status = 'waiting'`)
    },

    /** Seconds since the delivery was due that should have been made first; null when none is. */
    measureLag: (): Promise<number | null> =>
      database.oneFirst(sql.type(Lag)`
        select extract(epoch from now() - min(next_attempt_at))::float8 as seconds
        from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
        where status = 'waiting' and next_attempt_at <= now()
          and is_active and (paused_until is null or paused_until <= now())`),
  }
}

export interface ClaimOptions {
  readonly limit: number
  readonly leaseSeconds: number
  readonly underWay: Readonly<Record<string, number>>
}

function claimDeliveries(database: Database, { limit, leaseSeconds, underWay }: ClaimOptions) {
  return database.any(sql.type(rowType(ClaimedRow))`
    with recursive waiting_endpoints (endpoint_id) as (
      (select endpoint_id from webhook_deliveries where status = 'waiting' order by endpoint_id limit 1)
      union all
      select (select endpoint_id from webhook_deliveries
        where status = 'waiting' and webhook_deliveries.endpoint_id > waiting_endpoints.endpoint_id order by endpoint_id limit 1)
      from waiting_endpoints where waiting_endpoints.endpoint_id is not null
    ), turns as (
      select next.id, next.turn
      from waiting_endpoints join webhook_endpoints on webhook_endpoints.id = waiting_endpoints.endpoint_id
      cross join lateral (
        select id, row_number() over (order by next_attempt_at, id) as turn from webhook_deliveries
        where webhook_deliveries.endpoint_id = waiting_endpoints.endpoint_id and status = 'waiting' and next_attempt_at <= now()
        order by next_attempt_at, id
        limit greatest(0, case when failing_since is null then ${AT_ONCE} else 1 end
          - coalesce((${sql.jsonb({ ...underWay })}->>waiting_endpoints.endpoint_id)::int, 0))
      ) as next
      where is_active and (paused_until is null or paused_until <= now())
    ), chosen as (
      select id from turns order by turn, id limit ${limit}
    ), locked as (
      select webhook_deliveries.id from webhook_deliveries join chosen using (id)
      where status = 'waiting' and next_attempt_at <= now()
      for update of webhook_deliveries skip locked
    )
    update webhook_deliveries set next_attempt_at = now() + make_interval(secs => ${leaseSeconds})
    from locked, webhook_endpoints
    where webhook_deliveries.id = locked.id and webhook_endpoints.id = webhook_deliveries.endpoint_id
    returning webhook_deliveries.id, event_id as "eventId", type, data, happened_at as "happenedAt", attempts,
      endpoint_id as "endpointId", account_id as "accountId", url, secrets, clock_timestamp() as "claimedAt"`)
}

const Disabled = rowType(Type.Object({ reason: Nullable(Type.String()) }))
const Lag = rowType(Type.Object({ seconds: Nullable(Type.Number()) }))

/** Null when it stays in use, or was taken out before. */
function whyDisabled({ isGone, disableAfterDays }: FailedAttempt) {
  return sql.fragment`
    case when not is_active then null
      when ${isGone} then 'The endpoint returned 410 Gone.'
      when failing_since < now() - make_interval(days => ${disableAfterDays})
        then format('It has taken nothing for %s days.', ${disableAfterDays}::int)
    end`
}

/** Failures at the same time are one: a rest that has begun is not made longer. */
function restAfter({ pauseSeconds, rest }: FailedAttempt) {
  const { firstSeconds = 0, longestSeconds = 0 } = rest ?? {}
  const grown = sql.fragment`least(${longestSeconds}, ${firstSeconds} * 2 ^ least(failures, 30))`
  return sql.fragment`
    failures = failures + case when ${rest !== null} and is_awake then 1 else 0 end,
    paused_until = greatest(paused_until, now() + make_interval(secs => ${pauseSeconds}),
      case when is_awake then now() + make_interval(secs => ${grown}) end)`
}
