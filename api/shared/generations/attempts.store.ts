import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import {
  type LayerOutcome,
  MAX_DEVICE_FAILURES,
  type ServiceClass,
  type StoredResult,
  type TryOnJob,
  TryOnJobSchema,
} from './generation.ts'
import {
  type AttemptFailure,
  anotherAttempt,
  dueIn,
  type Move,
  MovedColumns,
  moved,
  movedRow,
  movesBy,
  moving,
  nextUpdate,
  requeueAgain,
  settleEnded,
  touched,
  withAttempt,
} from './transitions.store.ts'

/** A worker that has not renewed its lease for this long counts as lost. */
export const LEASE_SECONDS = 7

/** After this delay the queue has forgotten the job, whose ID the next dispatch reuses. */
const REDISPATCH_DELAY_SECONDS = 0.5

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
export interface Outcome {
  readonly resultKey: string
  /** All results, of which `resultKey` is the first. Absent: one result. */
  readonly results?: readonly StoredResult[]
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
  /** Of the products of an outfit, in the order of the call. */
  readonly layers?: readonly LayerOutcome[]
  /** Whether it is a copy of an earlier result; absent: no. */
  readonly reused?: boolean
}

function keysOf({ resultKey, results = [] }: Outcome): string[] {
  return [resultKey, ...results.flatMap(({ key = [], changedKey = [] }) => [key, changedKey].flat())]
}

/** The layers of a generation with the outcome of each. */
const withOutcomes = (outcomes: readonly LayerOutcome[]) => sql.fragment`(
  select jsonb_agg(layer || coalesce(outcome, '{}') order by place)
  from jsonb_array_elements(layers) with ordinality as own (layer, place)
    left join jsonb_array_elements(${sql.jsonb(outcomes.map(fieldsOf))}) with ordinality as made (outcome, place)
      using (place))`

/** Named individually, so that no other field of a worker replaces one of the layer. */
function fieldsOf({ applied, warnings, quality, errorCode, errorMessage }: LayerOutcome) {
  return { applied, warnings: [...warnings], quality, errorCode, errorMessage }
}

/** Transitions of an attempt by its worker. */
export function createAttempts(database: Database, move: Move) {
  const moves = movesBy(move)
  return {
    /**
     * PENDING → PROCESSING with a lease; null when this attempt has ended, was taken or was cancelled. `isRepeat`: this worker may have
     * started the attempt already.
     */
    start: async (
      { id, attempt, worker }: { id: string; attempt: number; worker: string },
      { isRepeat = false } = {},
    ): Promise<Start | null> => {
      const [started] = await move(sql.type(Started)`
        update generations
        set status = 'PROCESSING', worker = ${worker}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
            attempt_dispatched_at = (select dispatched_at from outbox where generation_id = ${id}),
            started_at = now_ms(), progress = 0, updated_at = ${nextUpdate}
        where id = ${id} and attempt = ${attempt} and deadline_at > now()
          and (status = 'PENDING' or ${isRepeat} and status = 'PROCESSING' and worker = ${worker})
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
     * PROCESSING → PENDING under the same attempt, because the worker's device failed. Another worker is preferred; returns false when the generation has already had `MAX_DEVICE_FAILURES` device failures. Another
     * worker may run the same attempt since. `isRepeat`: this worker may have returned the attempt already.
     */
    spare: async (
      { id, attempt, worker }: { id: string; attempt: number; worker: string },
      { isRepeat = false } = {},
    ): Promise<boolean> => {
      const isSpared = await moves(moving`
        with again as (
          update generations
          set status = 'PENDING', past_attempts = ${withAttempt('spared')}, lease_until = null, progress = null,
              updated_at = ${nextUpdate}
          where id = ${id} and attempt = ${attempt} and worker = ${worker} and status = 'PROCESSING' and exists (
            select from outbox where generation_id = ${id}
              and coalesce((payload->>'spared')::int, 0) < ${MAX_DEVICE_FAILURES})
          returning ${touched}
        ), requeued as (
          update outbox
          set dispatched_at = null, available_at = ${dueIn(REDISPATCH_DELAY_SECONDS)},
              payload = payload || jsonb_build_object('spared', coalesce((payload->>'spared')::int, 0) + 1,
                'failedOn', coalesce(payload->'failedOn', '[]') || to_jsonb(again.worker))
          from again where outbox.generation_id = again.id
        )
        select ${moved} from again`)
      if (isSpared || !isRepeat) return isSpared
      return database.exists(sql.unsafe`
        select from generations
        where id = ${id} and attempt = ${attempt} and (status <> 'PROCESSING' or worker <> ${worker})
          and past_attempts->-1 @> ${sql.jsonb({ attempt, worker, reason: 'spared' })}`)
    },

    /** Renews the lease; false when the attempt no longer belongs to this worker, which must stop then. */
    renew: async ({ id, attempt, progress }: { id: string; attempt: number; progress: number }) =>
      moves(moving`
        update generations
        set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), progress = ${progress}
        where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
        returning ${movedRow}`),

    /** PROCESSING → COMPLETED. True also when the attempt has completed with this result before. */
    complete: async ({ id, attempt, outcome }: { id: string; attempt: number; outcome: Outcome }): Promise<boolean> => {
      const isCompleted = await moves(moving`
        with ended as (
          update generations
          set status = 'COMPLETED', result_key = ${outcome.resultKey},
              results = ${outcome.results ? sql.jsonb([...outcome.results]) : null}, progress = 1, lease_until = null,
              warnings = ${sql.jsonb([...outcome.warnings])}, timings = ${sql.jsonb({ ...outcome.timings })},
              engine_info = ${sql.jsonb({ ...outcome.engineInfo })}, category = ${outcome.category}, quality = ${outcome.quality ?? null},
              ingredient_salt = ${outcome.ingredientSalt ?? null},
              layers = ${withOutcomes(outcome.layers ?? [])},
              reused_from = case when ${outcome.reused ?? false} then reused_from end, finished_at = now_ms(), updated_at = ${nextUpdate}
          where id = ${id} and attempt = ${attempt} and status = 'PROCESSING'
          returning ${touched}, images_expire_at
        ), claimed as (
          update objects set expires_at = images_expire_at from ended where objects.key = any(${sql.array(keysOf(outcome), 'text')})
        ), ${settleEnded}
        select ${moved} from ended, settled`)
      if (isCompleted) return true
      return database.exists(sql.unsafe`
        select from generations
        where id = ${id} and attempt = ${attempt} and status = 'COMPLETED' and result_key = ${outcome.resultKey}`)
    },

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
