import type { QuerySqlToken } from 'slonik'
import { APPEALABLE_CODES } from '../contract/error-codes.ts'
import type { ErrorCode, FieldProblem } from '../contract/errors.ts'
import { Nullable, type RowType, type Static, Type } from '../contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../database/database.ts'
import { type Customer, isGenerationOf } from '../retention/customer.ts'
import { noteErasedJobs } from '../retention/erasures.store.ts'
import {
  type GenerationChange,
  LEASE_SECONDS,
  MAX_ATTEMPTS,
  MAX_DEVICE_FAILURES,
  SERVICE_CLASSES,
  type ServiceClass,
  STATUSES,
  type TryOnJob,
  TryOnJobSchema,
} from './generation.ts'

const ConsentSchema = Type.Object({ policy: Type.String(), version: Type.String(), at: Type.String() })
/** A consent as it is stored with a generation; `at` is ISO 8601. */
export type Consent = Readonly<Static<typeof ConsentSchema>>

const GenerationRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  /** Shop whose shopper requested the generation; null for calls of the server API. */
  shopId: Nullable(Type.String()),
  /** The end user of the caller, or the shopper; null after erasure. */
  externalUserId: Nullable(Type.String()),
  productExternalId: Type.String(),
  status: Type.Enum([...STATUSES]),
  attempt: Type.Integer(),
  engine: Type.String(),
  /** Engine that the call named, when a fallback engine replaces it. */
  requestedEngine: Nullable(Type.String()),
  progress: Nullable(Type.Number()),
  resultKey: Nullable(Type.String()),
  imagesExpireAt: Timestamp,
  errorCode: Nullable(Type.String()),
  errorMessage: Nullable(Type.String()),
  errorDetails: Nullable(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  warnings: Type.Array(Type.String()),
  timings: Json,
  engineInfo: Json,
  category: Nullable(Type.String()),
  quality: Nullable(Type.Number()),
  ingredientSalt: Nullable(Type.String()),
  /** Whether a safety check refused the images, and the refusal can be appealed. */
  isAppealable: Type.Boolean(),
  /** What the person of the photo agreed to; null if the call had no consent. */
  consent: Nullable(ConsentSchema),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type GenerationRecord = Static<typeof GenerationRow>

/** Whether a safety check refused the images of a generation, and the refusal can be appealed. */
export const isAppealable = sql.fragment`(
  status = 'FAILED' and error_code = any(${sql.array([...APPEALABLE_CODES], 'text')})
  and exists (select from safety_refusals where safety_refusals.generation_id = generations.id))`

/** Key of a result that still exists: a policy may have deleted the bytes before the generation's own expiry. */
export const keptResultKey = sql.fragment`(select key from objects where key = result_key)`

const columns = sql.fragment`
  id, account_id as "accountId", shop_id as "shopId", external_user_id as "externalUserId", product_external_id as "productExternalId", status, attempt, engine,
  requested_engine as "requestedEngine", progress,
  ${keptResultKey} as "resultKey", images_expire_at as "imagesExpireAt",
  error_code as "errorCode", error_message as "errorMessage", error_details as "errorDetails", warnings, timings, engine_info as "engineInfo", category, quality,
  ingredient_salt as "ingredientSalt", ${isAppealable} as "isAppealable", consent, created_at as "createdAt", updated_at as "updatedAt"`

/** After this delay the queue has forgotten the job, whose ID the next dispatch reuses. */
const REDISPATCH_DELAY_SECONDS = 0.5

/** Time of a status change: strictly increasing, also when a clock steps back. */
const nextUpdate = sql.fragment`greatest(now_ms(), updated_at + interval '1 millisecond')`

const MovedColumns = {
  id: Type.String(),
  attempt: Type.Integer(),
  status: Type.Enum([...STATUSES]),
  progress: Nullable(Type.Number()),
  cost: Type.Integer(),
  errorCode: Nullable(Type.String()),
  engine: Type.String(),
  serviceClass: Type.Enum([...SERVICE_CLASSES]),
  isStarted: Type.Boolean(),
  seconds: Type.Number(),
  updatedAt: Timestamp,
}
const MovedObject = Type.Object(MovedColumns)
type MovedRow = Static<typeof MovedObject>
const Moved = rowType(MovedObject)
const Started = rowType(
  Type.Object({
    ...MovedColumns,
    secondsLeft: Type.Number(),
    secondsWaited: Type.Number(),
    isFirst: Type.Boolean(),
    job: TryOnJobSchema,
  }),
)
/** Data about an attempt at its start, by Postgres: a worker's own clock may be wrong. */
export interface Start {
  /** Seconds until the deadline. */
  readonly secondsLeft: number
  /** Seconds since acceptance. */
  readonly secondsWaited: number
  /** False when an earlier attempt started. */
  readonly isFirst: boolean
  readonly serviceClass: ServiceClass
  /** The attempt's job, whatever the queue said of it. */
  readonly job: TryOnJob
}
const serviceClass = sql.fragment`
  case when exists (select from outbox where outbox.generation_id = generations.id and is_batch) then 'batch'
    when (select settings->>'serviceClass' from accounts where accounts.id = generations.account_id) = 'premium' then 'premium'
    else 'standard' end`
const movedColumns = sql.fragment`
  attempt, status, progress, cost, error_code as "errorCode", engine, started_at is not null as "isStarted",
  extract(epoch from updated_at - created_at)::float8 as seconds, updated_at as "updatedAt"`
/** Result of a statement that ends or recovers generations. */
const moved = sql.fragment`id, service_class as "serviceClass", ${movedColumns}`
/** Returning fields of a statement that moves one generation. */
const movedRow = sql.fragment`id, ${serviceClass} as "serviceClass", ${movedColumns}`
/** Returning fields of the rows that a statement ends or recovers. */
const touched = sql.fragment`
  generations.id, engine, cost, attempt, worker, status, progress, error_code, created_at, started_at, updated_at,
  ${serviceClass} as service_class`
const moving = sql.type(Moved)

export type Generations = ReturnType<typeof createGenerations>

export interface AboutMove {
  /** Credits, which are refunded when a generation fails. */
  readonly cost: number
  readonly errorCode: string | null
  readonly engine: string
  readonly serviceClass: ServiceClass
  /** Whether an attempt has started. */
  readonly isStarted: boolean
  /** Seconds since acceptance. */
  readonly seconds: number
}

/** Called with every change. */
export type Announce = (change: GenerationChange, about: AboutMove) => void

export interface Outcome {
  readonly resultKey: string
  readonly warnings: readonly string[]
  readonly timings: Readonly<Record<string, number>>
  readonly engineInfo: {
    readonly name: string
    readonly version: string
    readonly license: string
    readonly kind: string
  }
  readonly category: string | null
  /** 0 to 1; absent when the result could not be rated. */
  readonly quality?: number | null
  /** Salt of the ingredient names in the result's Content Credentials; absent without credentials. */
  readonly ingredientSalt?: string
}

/**
 * Lifecycle of a generation. Every transition is one conditional statement that names its attempt, so that late or
 * duplicate calls change nothing. Each returns whether it changed the generation.
 */
export function createGenerations(database: Database, announce: Announce = () => {}) {
  const move: Move = async (statement) => {
    const rows = await database.any(statement)
    for (const { id, status, progress, updatedAt, ...about } of rows) {
      announce({ id, status, progress, updatedAt: updatedAt.getTime() }, about)
    }
    return rows
  }
  return {
    find: (id: string) =>
      database.maybeOne(sql.type(rowType(GenerationRow))`select ${columns} from generations where id = ${id}`),

    findMany: (ids: readonly string[]) =>
      database.any(sql.type(rowType(GenerationRow))`
        select ${columns} from generations where id = any(${sql.array([...ids], 'text')})`),

    ...createAttempts(database, move),
    ...createEndings(move),
  }
}

/** Runs a statement that changes generations, and announces each changed row. */
type Move = <T extends MovedRow>(statement: QuerySqlToken<RowType<T>>) => Promise<readonly T[]>

function movesBy(move: Move) {
  return async (statement: ReturnType<typeof moving>) => (await move(statement)).length > 0
}

/** Transitions of an attempt by its worker. */
function createAttempts(database: Database, move: Move) {
  const moves = movesBy(move)
  return {
    /** PENDING → PROCESSING with a lease; null when this attempt has ended, was taken or was cancelled. */
    start: async ({ id, attempt, worker }: { id: string; attempt: number; worker: string }): Promise<Start | null> => {
      const [started] = await move(sql.type(Started)`
        update generations
        set status = 'PROCESSING', worker = ${worker}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
            attempt_dispatched_at = (select dispatched_at from outbox where generation_id = ${id}),
            started_at = now_ms(), progress = 0, updated_at = ${nextUpdate}
        where id = ${id} and attempt = ${attempt} and status = 'PENDING' and deadline_at > now()
        returning ${movedRow}, extract(epoch from deadline_at - now())::float8 as "secondsLeft",
          extract(epoch from now() - created_at)::float8 as "secondsWaited", past_attempts = '[]' as "isFirst",
          (select payload from outbox where generation_id = ${id}) as job`)
      return started ?? null
    },

    /** Returns an attempt that was not started to the relay, for another worker. */
    handBack: async ({ id, attempt }: { id: string; attempt: number }): Promise<void> => {
      await database.query(sql.unsafe`
        update outbox
        set dispatched_at = null, available_at = now() + make_interval(secs => ${REDISPATCH_DELAY_SECONDS})
        from generations
        where generation_id = ${id} and generations.id = ${id} and attempt = ${attempt} and status = 'PENDING'`)
    },

    /**
     * PROCESSING → PENDING under the same attempt, because the worker's device failed or no key could sign. After a device failure
     * another worker is preferred; returns false when the generation has already had `MAX_DEVICE_FAILURES` device failures.
     */
    spare: async ({ id, attempt, fault }: { id: string; attempt: number; fault: 'device' | 'signing' }) =>
      moves(moving`
        with again as (
          update generations
          set status = 'PENDING', past_attempts = ${withAttempt('spared')}, lease_until = null, progress = null,
              updated_at = ${nextUpdate}
          where id = ${id} and attempt = ${attempt} and status = 'PROCESSING' and exists (
            select from outbox where generation_id = ${id}
              and (${fault === 'signing'} or coalesce((payload->>'spared')::int, 0) < ${MAX_DEVICE_FAILURES}))
          returning ${touched}
        ), requeued as (
          update outbox
          set dispatched_at = null, available_at = ${dueIn(REDISPATCH_DELAY_SECONDS)},
              payload = payload || case when ${fault === 'device'} then
                jsonb_build_object('spared', coalesce((payload->>'spared')::int, 0) + 1,
                  'failedOn', coalesce(payload->'failedOn', '[]') || to_jsonb(again.worker))
                else '{}' end
          from again where outbox.generation_id = again.id
        )
        select ${moved} from again`),

    /** Renews the lease; false when the attempt no longer belongs to this worker, which must stop then. */
    renew: async ({ id, attempt, progress }: { id: string; attempt: number; progress: number }) =>
      moves(moving`
        update generations
        set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), progress = ${progress}
        where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
        returning ${movedRow}`),

    /** PROCESSING → COMPLETED. */
    complete: async ({ id, attempt, outcome }: { id: string; attempt: number; outcome: Outcome }) =>
      moves(moving`
        with ended as (
          update generations
          set status = 'COMPLETED', result_key = ${outcome.resultKey}, progress = 1, lease_until = null,
              warnings = ${sql.jsonb([...outcome.warnings])}, timings = ${sql.jsonb({ ...outcome.timings })},
              engine_info = ${sql.jsonb({ ...outcome.engineInfo })}, category = ${outcome.category}, quality = ${outcome.quality ?? null},
              ingredient_salt = ${outcome.ingredientSalt ?? null},
              finished_at = now_ms(), updated_at = ${nextUpdate}
          where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
          returning ${touched}, images_expire_at
        ), claimed as (
          update objects set expires_at = images_expire_at from ended where objects.key = ${outcome.resultKey}
        ), ${settleEnded}
        select ${moved} from ended, settled`),

    /** PROCESSING → PENDING for another attempt after `delaySeconds`; FAILED with `failure` and a refund after the last attempt. */
    retry: async ({
      id,
      attempt,
      delaySeconds,
      failure,
    }: {
      id: string
      attempt: number
      delaySeconds: number
      failure?: AttemptFailure
    }) =>
      moves(moving`
        with again as (
          update generations
          set ${anotherAttempt('retried', failure)}
          where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
          returning ${touched}
        ), ended as (select * from again where status = 'FAILED'), ${settleEnded}, ${requeueAgain(delaySeconds)}
        select ${moved} from again, settled`),
  }
}

/** Transitions that end generations or recover them from lost workers. */
function createEndings(move: Move) {
  const moves = movesBy(move)
  return {
    /** Any unfinished state → FAILED, with a refund. `attempt` null: any attempt. */
    fail: async ({
      id,
      attempt,
      code,
      message,
      details = [],
    }: {
      id: string
      attempt: number | null
      code: ErrorCode
      message: string
      /** The fields of the call that caused the failure. */
      details?: readonly FieldProblem[]
    }) =>
      moves(moving`
        with ended as (
          update generations
          set status = 'FAILED', error_code = ${code}, error_message = ${message},
              error_details = ${details.length === 0 ? null : sql.jsonb(details.map(({ path, message }) => ({ path, message })))},
              lease_until = null,
              finished_at = now_ms(), updated_at = ${nextUpdate}
          where id = ${id} and status in ('PENDING', 'PROCESSING') and (${attempt}::int is null or attempt = ${attempt})
          returning ${touched}
        ), ${settleEnded}
        select ${moved} from ended, settled`),

    /** Cancels and refunds the unfinished generations of a customer, and those made of the customer's photos. Returns the attempts that this ended. */
    failOfCustomer: (customer: Customer, limit: number): Promise<readonly { id: string; attempt: number }[]> => {
      return move(moving`
        with theirs as (
          select id from generations
          where ${isGenerationOf(customer)} and status in ('PENDING', 'PROCESSING')
          order by id limit ${limit} for update
        ), ended as (
          update generations
          set status = 'FAILED', error_code = 'GENERATION_CANCELLED',
              error_message = 'The data of the customer has been erased.', lease_until = null,
              finished_at = now_ms(), updated_at = ${nextUpdate}
          from theirs where generations.id = theirs.id
          returning ${touched}
        ), ${noteErasedJobs(customer)}, ${settleEnded}
        select ${moved} from ended, settled`)
    },

    /** Recovers the generations of lost workers: PENDING again, or FAILED after the last attempt. Returns the count. */
    recoverLost: async (limit: number) =>
      (
        await move(moving`
        with lost as (
          select id from generations where status = 'PROCESSING' and lease_until < now()
          order by lease_until limit ${limit} for update skip locked
        ), again as (
          update generations
          set ${anotherAttempt('lost')}
          from lost where generations.id = lost.id
          returning ${touched}
        ), ended as (select * from again where status = 'FAILED'), ${settleEnded}, ${requeueAgain(0)}
        select ${moved} from again, settled`)
      ).length,

    /** Fails and refunds generations past their deadline. Returns the count. */
    failOverdue: async (limit: number) =>
      (
        await move(moving`
        with overdue as (
          select id from generations where status in ('PENDING', 'PROCESSING') and deadline_at <= now()
          order by deadline_at limit ${limit} for update skip locked
        ), ended as (
          update generations
          set status = 'FAILED', error_code = 'GENERATION_TIMEOUT',
              error_message = 'The generation was not finished before its deadline.', lease_until = null,
              finished_at = now_ms(), updated_at = ${nextUpdate}
          from overdue where generations.id = overdue.id
          returning ${touched}
        ), ${settleEnded}
        select ${moved} from ended, settled`)
      ).length,
  }
}

/** How an attempt ended without a result: the worker was lost, an error, or a failing device or signing key. */
export const ATTEMPT_ENDS = ['lost', 'retried', 'spared'] as const
type AttemptEnd = (typeof ATTEMPT_ENDS)[number]

const withAttempt = (reason: AttemptEnd) => sql.fragment`
  past_attempts || jsonb_build_object('attempt', attempt, 'worker', worker, 'dispatchedAt', attempt_dispatched_at,
    'startedAt', started_at, 'endedAt', now_ms(), 'reason', ${reason}::text)`

/** Why a generation fails after its last attempt. */
interface AttemptFailure {
  readonly code: ErrorCode
  readonly message: string
}
const GAVE_UP: AttemptFailure = { code: 'GENERATION_FAILED', message: 'The generation failed after several attempts.' }

/** PENDING with the next attempt, or FAILED after the last one. */
const anotherAttempt = (reason: AttemptEnd, { code, message }: AttemptFailure = GAVE_UP) => sql.fragment`
  past_attempts = ${withAttempt(reason)},
  status = case when attempt >= ${MAX_ATTEMPTS} then 'FAILED' else 'PENDING' end,
  error_code = case when attempt >= ${MAX_ATTEMPTS} then ${code} end,
  error_message = case when attempt >= ${MAX_ATTEMPTS} then ${message} end,
  finished_at = case when attempt >= ${MAX_ATTEMPTS} then now_ms() end,
  attempt = attempt + case when attempt >= ${MAX_ATTEMPTS} then 0 else 1 end,
  lease_until = null, progress = null, updated_at = ${nextUpdate}`

/**
 * Refunds and settles everything in `ended`; a statement without `settled` in its `from` would not run it. Workers have no right to
 * balances, the ledger and webhooks: the SQL function has, and checks that the generations have ended.
 */
const settleEnded = sql.fragment`settled as (select settle_generations(array_agg(id)) from ended)`

const dueIn = (seconds: number) => sql.fragment`now() + make_interval(secs => ${seconds})`

/** Returns everything in `again` that waits to the relay under its new attempt; without a delay in its old place. */
const requeueAgain = (delaySeconds: number) => sql.fragment`
  requeued as (
    update outbox
    set dispatched_at = null, available_at = ${delaySeconds > 0 ? dueIn(delaySeconds) : sql.fragment`available_at`},
        payload = payload || jsonb_build_object('attempt', again.attempt,
          'failedOn', coalesce(payload->'failedOn', '[]') || to_jsonb(again.worker))
    from again where outbox.generation_id = again.id and again.status = 'PENDING'
  )`
