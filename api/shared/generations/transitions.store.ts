import type { QuerySqlToken } from 'slonik'
import type { ErrorCode } from '../contract/errors.ts'
import { Nullable, type RowType, type Static, Type } from '../contract/schema.ts'
import { rowType, sql, Timestamp } from '../database/database.ts'
import { type GenerationChange, MAX_ATTEMPTS, SERVICE_CLASSES, type ServiceClass, STATUSES } from './generation.ts'

// Parts of the statements that change the state of generations: `attempts.store.ts` and `failures-and-refunds.store.ts`.

/** Time of a status change: strictly increasing, also when a clock steps back. */
export const nextUpdate = sql.fragment`greatest(now_ms(), updated_at + interval '1 millisecond')`

export const MovedColumns = {
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
const serviceClass = sql.fragment`
  case when exists (select from outbox where outbox.generation_id = generations.id and is_batch) then 'batch'
    when (select settings->>'serviceClass' from accounts where accounts.id = generations.account_id) = 'premium' then 'premium'
    else 'standard' end`
const movedColumns = sql.fragment`
  attempt, status, progress, cost, error_code as "errorCode", engine, started_at is not null as "isStarted",
  extract(epoch from updated_at - created_at)::float8 as seconds, updated_at as "updatedAt"`
/** Result of a statement that ends or recovers generations. */
export const moved = sql.fragment`id, service_class as "serviceClass", ${movedColumns}`
/** Returning fields of a statement that moves one generation. */
export const movedRow = sql.fragment`id, ${serviceClass} as "serviceClass", ${movedColumns}`
/** Returning fields of the rows that a statement ends or recovers. */
export const touched = sql.fragment`
  generations.id, engine, cost, attempt, worker, status, progress, error_code, created_at, started_at, updated_at,
  ${serviceClass} as service_class`
export const moving = sql.type(Moved)

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

/** Runs a statement that changes generations, and announces each changed row. */
export type Move = <T extends MovedRow>(statement: QuerySqlToken<RowType<T>>) => Promise<readonly T[]>

export function movesBy(move: Move) {
  return async (statement: ReturnType<typeof moving>) => (await move(statement)).length > 0
}

/** How an attempt ended without a result: the worker was lost, an error, or a failing device or signing key. */
export const ATTEMPT_ENDS = ['lost', 'retried', 'spared'] as const
type AttemptEnd = (typeof ATTEMPT_ENDS)[number]

export const withAttempt = (reason: AttemptEnd) => sql.fragment`
  past_attempts || jsonb_build_object('attempt', attempt, 'worker', worker, 'dispatchedAt', attempt_dispatched_at,
    'startedAt', started_at, 'endedAt', now_ms(), 'reason', ${reason}::text)`

/** Why a generation fails after its last attempt. */
export interface AttemptFailure {
  readonly code: ErrorCode
  readonly message: string
}
const GAVE_UP: AttemptFailure = { code: 'GENERATION_FAILED', message: 'The generation failed after several attempts.' }

/** PENDING with the next attempt, or FAILED after the last one. */
export const anotherAttempt = (reason: AttemptEnd, { code, message }: AttemptFailure = GAVE_UP) => sql.fragment`
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
export const settleEnded = sql.fragment`settled as (select settle_generations(array_agg(id)) from ended)`

export const dueIn = (seconds: number) => sql.fragment`now() + make_interval(secs => ${seconds})`

/** Returns everything in `again` that waits to the relay under its new attempt; without a delay in its old place. */
export const requeueAgain = (delaySeconds: number) => sql.fragment`
  requeued as (
    update outbox
    set dispatched_at = null, available_at = ${delaySeconds > 0 ? dueIn(delaySeconds) : sql.fragment`available_at`},
        payload = payload || jsonb_build_object('attempt', again.attempt,
          'failedOn', coalesce(payload->'failedOn', '[]') || to_jsonb(again.worker))
    from again where outbox.generation_id = again.id and again.status = 'PENDING'
  )`
