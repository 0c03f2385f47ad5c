import { LiveSecrets, openSecrets } from '../secrets/live-secrets.store.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'

const ClaimedRow = Type.Object({
  id: Type.Integer(),
  eventId: Type.String(),
  type: Type.String(),
  data: Json,
  happenedAt: Timestamp,
  /** Attempts made before this one. */
  attempts: Type.Integer(),
  endpointId: Type.String(),
  accountId: Type.String(),
  url: Type.String(),
  /** Sealed; `openSecrets` decrypts them. */
  secrets: LiveSecrets,
  claimedAt: Timestamp,
})
/** A claimed delivery with all data that the attempt needs. */
export type ClaimedDelivery = Static<typeof ClaimedRow>

/** Maximum concurrent deliveries from one process to one endpoint; 1 while the endpoint is failing. */
const MAX_CONCURRENT = 8

export interface FailedAttempt {
  readonly status: number | null
  readonly reason: string
  /** Seconds until the next attempt; null: no further attempt. */
  readonly retrySeconds: number | null
  /** Whether the endpoint returned 410, which disables it immediately. */
  readonly isGone: boolean
  /** Minimum pause of the endpoint. */
  readonly pauseSeconds: number
  /**
   * Backoff of a failing endpoint, doubled with each failure up to `maxSeconds`; null when the endpoint is not at
   * fault.
   */
  readonly backoff: { readonly firstSeconds: number; readonly maxSeconds: number } | null
  /** Days without a successful delivery after which the endpoint is disabled. */
  readonly disableAfterDays: number
}

export type WebhookDeliveries = ReturnType<typeof createWebhookDeliveries>

/** Store of pending webhook deliveries. */
export function createWebhookDeliveries(database: Database) {
  return {
    /**
     * Claims up to `limit` due deliveries for `leaseSeconds`, in turn from each endpoint that is active and not paused.
     * `inFlight` counts the deliveries of this process by endpoint.
     */
    claim: (options: ClaimOptions): Promise<readonly ClaimedDelivery[]> => claimDeliveries(database, options),

    /** The secrets that sign a delivery, newest first. Throws when they cannot be decrypted. */
    openSecrets: async ({ endpointId, secrets }: ClaimedDelivery): Promise<string[]> => {
      const opened = await openSecrets(database, secrets, { table: 'webhook_endpoints', id: endpointId })
      return opened.map(({ secret }) => secret)
    },

    /** Marks the delivery as delivered and clears its personal data. */
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

    /** Records a failed attempt. Returns the reason if the failure has disabled the endpoint. */
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
          ${backoffAfter(attempt)}
        from endpoint where webhook_endpoints.id = endpoint.id
        returning reason`)
      return { disabledReason: disabled }
    },

    /** Returns unsent deliveries to the queue. */
    release: async (ids: readonly number[]): Promise<void> => {
      await database.query(sql.unsafe`
        update webhook_deliveries set next_attempt_at = now()
        where id = any(${sql.array([...ids], 'int8')}) and status = 'waiting'`)
    },

    /** Seconds since the oldest due delivery became due; null when no delivery is due. */
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
  readonly inFlight: Readonly<Record<string, number>>
}

function claimDeliveries(database: Database, { limit, leaseSeconds, inFlight }: ClaimOptions) {
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
        limit greatest(0, case when failing_since is null then ${MAX_CONCURRENT} else 1 end
          - coalesce((${sql.jsonb({ ...inFlight })}->>waiting_endpoints.endpoint_id)::int, 0))
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

/** Null when the endpoint stays active or was already disabled. */
function whyDisabled({ isGone, disableAfterDays }: FailedAttempt) {
  return sql.fragment`
    case when not is_active then null
      when ${isGone} then 'The endpoint returned 410 Gone.'
      when failing_since < now() - make_interval(days => ${disableAfterDays})
        then format('No delivery has succeeded for %s days.', ${disableAfterDays}::int)
    end`
}

/** Concurrent failures count as one: a running backoff is not extended. */
function backoffAfter({ pauseSeconds, backoff }: FailedAttempt) {
  const { firstSeconds = 0, maxSeconds = 0 } = backoff ?? {}
  const backoffSeconds = sql.fragment`least(${maxSeconds}, ${firstSeconds} * 2 ^ least(failures, 30))`
  return sql.fragment`
    failures = failures + case when ${backoff !== null} and is_awake then 1 else 0 end,
    paused_until = greatest(paused_until, now() + make_interval(secs => ${pauseSeconds}),
      case when is_awake then now() + make_interval(secs => ${backoffSeconds}) end)`
}
