import { APPEALABLE_CODES } from '../contract/error-codes.ts'
import { Nullable, type Static, Type } from '../contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../database/database.ts'
import { createAttempts } from './attempts.store.ts'
import { createFailures } from './failures-and-refunds.store.ts'
import { LAYERS, LayerOutcomeSchema, STATUSES, StoredResultSchema } from './generation.ts'
import type { Announce, Move } from './transitions.store.ts'

const ConsentSchema = Type.Object({ policy: Type.String(), version: Type.String(), at: Type.String() })
/** A consent as it is stored with a generation; `at` is ISO 8601. */
export type Consent = Readonly<Static<typeof ConsentSchema>>

const { applied, warnings, quality, errorCode, errorMessage } = LayerOutcomeSchema.properties

/** A product of an outfit. The last fields are those of a worker, when the generation has completed. */
export const LayerSchema = Type.Object({
  layer: Type.Enum([...LAYERS]),
  externalId: Type.String(),
  title: Nullable(Type.String()),
  /** Credits that are refunded if the layer is left out. */
  cost: Type.Integer(),
  applied: Type.Optional(applied),
  warnings: Type.Optional(warnings),
  quality: Type.Optional(quality),
  errorCode: Type.Optional(errorCode),
  errorMessage: Type.Optional(errorMessage),
})

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
  /** All results by seed, then the failed ones; null for one result. Without its key, a result no longer exists. */
  results: Nullable(Type.Array(StoredResultSchema)),
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
  /** The products of an outfit, in the order of the call; null for a single product. */
  layers: Nullable(Type.Array(LayerSchema)),
  /** Whether the result is, or may become, a copy of an earlier one. */
  reused: Type.Boolean(),
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

/** As `keptResultKey`, of each result. */
export const keptResults = sql.fragment`(
  select jsonb_agg(case when key is null then result - 'key' - 'changedKey' else result end order by place)
  from jsonb_array_elements(results) with ordinality as listed (result, place) left join objects on key = result->>'key')`

const columns = sql.fragment`
  id, account_id as "accountId", shop_id as "shopId", external_user_id as "externalUserId", product_external_id as "productExternalId", status, attempt, engine,
  requested_engine as "requestedEngine", progress,
  ${keptResultKey} as "resultKey", ${keptResults} as results, images_expire_at as "imagesExpireAt",
  error_code as "errorCode", error_message as "errorMessage", error_details as "errorDetails", warnings, timings, engine_info as "engineInfo", category, quality,
  ingredient_salt as "ingredientSalt", ${isAppealable} as "isAppealable", consent, layers, reused_from is not null as reused, created_at as "createdAt", updated_at as "updatedAt"`

export type Generations = ReturnType<typeof createGenerations>

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
    ...createFailures(move),
  }
}
