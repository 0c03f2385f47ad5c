import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { STATUSES } from '../shared/generations/generation.ts'
import { ATTEMPT_ENDS } from '../shared/generations/transitions.store.ts'

/** An attempt that ended without a result. Times are ISO 8601 texts. */
export const PastAttempt = Type.Object({
  attempt: Type.Integer(),
  worker: Nullable(Type.String()),
  dispatchedAt: Nullable(Type.String()),
  startedAt: Nullable(Type.String()),
  endedAt: Type.String(),
  reason: Type.Enum([...ATTEMPT_ENDS]),
})

const LifeRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  shopId: Nullable(Type.String()),
  engine: Type.String(),
  requestedEngine: Nullable(Type.String()),
  status: Type.Enum([...STATUSES]),
  attempt: Type.Integer(),
  worker: Nullable(Type.String()),
  progress: Nullable(Type.Number()),
  errorCode: Nullable(Type.String()),
  errorMessage: Nullable(Type.String()),
  warnings: Type.Array(Type.String()),
  timings: Nullable(Type.Record(Type.String(), Type.Number())),
  pastAttempts: Type.Array(PastAttempt),
  createdAt: Timestamp,
  dispatchedAt: Nullable(Timestamp),
  startedAt: Nullable(Timestamp),
  finishedAt: Nullable(Timestamp),
  deadlineAt: Timestamp,
  leaseUntil: Nullable(Timestamp),
  imagesExpireAt: Timestamp,
  /** Current time by the database's clock, which leases and deadlines use. */
  now: Timestamp,
  /** Its row in the outbox; null when it has ended. */
  outbox: Nullable(
    Type.Object({
      queue: Type.String(),
      isBatch: Type.Boolean(),
      availableAt: Type.String(),
      dispatchedAt: Nullable(Type.String()),
    }),
  ),
})
/** One generation as stored in Postgres, without personal data. */
export type GenerationLife = Static<typeof LifeRow>

const ObjectRow = Type.Object({
  role: Type.Enum(['photo', 'product image', 'result']),
  /** Only for reading the storage; keys are never printed. */
  key: Nullable(Type.String()),
  /** Whether the database still has the object. */
  isKnown: Type.Boolean(),
  storedAt: Nullable(Timestamp),
  expiresAt: Nullable(Timestamp),
})
export type LifeObject = Static<typeof ObjectRow>

const LedgerRow = Type.Object({ at: Timestamp, kind: Type.String(), amount: Type.Integer() })

const DeliveryRow = Type.Object({
  endpointId: Type.String(),
  type: Type.String(),
  status: Type.Enum(['waiting', 'delivered', 'failed']),
  attempts: Type.Integer(),
  queuedAt: Timestamp,
  lastAttemptAt: Nullable(Timestamp),
  lastStatus: Nullable(Type.Integer()),
  lastError: Nullable(Type.String()),
  nextAttemptAt: Timestamp,
  endedAt: Nullable(Timestamp),
})
export type LifeDelivery = Static<typeof DeliveryRow>

const ActRow = Type.Object({ at: Timestamp, action: Type.String() })

/** Everything stored about one generation, for operators who investigate it. */
export function createGenerationLives(database: Database) {
  return {
    find: (id: string): Promise<GenerationLife | null> =>
      database.maybeOne(sql.type(rowType(LifeRow))`
        select generations.id, generations.account_id as "accountId", shop_id as "shopId", engine,
          requested_engine as "requestedEngine", status, attempt, worker, progress, error_code as "errorCode",
          error_message as "errorMessage", warnings, timings, past_attempts as "pastAttempts",
          generations.created_at as "createdAt", attempt_dispatched_at as "dispatchedAt", started_at as "startedAt",
          finished_at as "finishedAt", deadline_at as "deadlineAt", lease_until as "leaseUntil",
          images_expire_at as "imagesExpireAt", clock_timestamp() as now,
          case when outbox.generation_id is not null then jsonb_build_object('queue', outbox.queue, 'isBatch', is_batch,
            'availableAt', available_at, 'dispatchedAt', outbox.dispatched_at) end as outbox
        from generations left join outbox on outbox.generation_id = generations.id
        where generations.id = ${id}`),

    /** Its photo, the product image of its snapshot, and its results; absent ones are left out. */
    findObjects: (id: string): Promise<readonly LifeObject[]> =>
      database.any(sql.type(rowType(ObjectRow))`
        with named as (
          select 1 as place, 'photo' as role, object_key as key, image_id is not null as was
          from generations left join images on images.id = image_id where generations.id = ${id}
          union all
          select 2, 'product image', snapshot #>> '{images,0,objectKey}', snapshot #>> '{images,0,objectKey}' is not null
          from generations where id = ${id}
          union all
          select 3, 'result', coalesce(result->>'key', result_key), coalesce(result->>'key', result_key) is not null
          from generations left join jsonb_array_elements(results) as result on true
          where id = ${id} and not coalesce(result ? 'errorCode', false)
        )
        select role, named.key, objects.key is not null as "isKnown", objects.created_at as "storedAt",
          objects.expires_at as "expiresAt"
        from named left join objects using (key) where was order by place`),

    findCharges: (id: string) =>
      database.any(sql.type(rowType(LedgerRow))`
        select created_at as at, kind, amount from ledger where generation_id = ${id} order by ledger.id`),

    findDeliveries: (id: string): Promise<readonly LifeDelivery[]> =>
      database.any(sql.type(rowType(DeliveryRow))`
        select endpoint_id as "endpointId", type, status, attempts, created_at as "queuedAt",
          last_attempt_at as "lastAttemptAt", last_status as "lastStatus", last_error as "lastError",
          next_attempt_at as "nextAttemptAt", ended_at as "endedAt"
        from webhook_deliveries where event_id = 'evt_' || substr(${id}, 5) order by id limit ${MAX_DELIVERIES}`),

    /** Actions of operators on the generation, and share links of its result. */
    findActs: (id: string) =>
      database.any(sql.type(rowType(ActRow))`
        select created_at as at, action from (
          select created_at, 'operator: ' || action as action from operator_audit where object = ${id}
          union all
          select created_at, 'result shared by a link' from share_links where generation_id = ${id}
        ) as acts order by at limit ${MAX_DELIVERIES}`),
  }
}

/** Exceeds the number of endpoints of an account. */
const MAX_DELIVERIES = 200
