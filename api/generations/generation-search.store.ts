import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { TEST_ENGINE } from '../shared/contract/test-mode.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'
import { STATUSES, StoredResultSchema } from '../shared/generations/generation.ts'
import { keptResultKey, keptResults, LayerSchema } from '../shared/generations/generations.store.ts'
import { PastAttempt } from './generation-life.store.ts'

const FoundRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  accountName: Type.String(),
  /** Of an outfit, those of all products. */
  productExternalId: Type.String(),
  productTitle: Nullable(Type.String()),
  engine: Type.String(),
  shopId: Nullable(Type.String()),
  status: Type.Enum([...STATUSES]),
  errorCode: Nullable(Type.String()),
  seconds: Nullable(Type.Number()),
  createdAt: Timestamp,
})
export type FoundGeneration = Static<typeof FoundRow>

const DetailRow = Type.Object({
  ...FoundRow.properties,
  requestedEngine: Nullable(Type.String()),
  externalUserId: Nullable(Type.String()),
  attempt: Type.Integer(),
  /** Oldest first. */
  pastAttempts: Type.Array(PastAttempt),
  worker: Nullable(Type.String()),
  cost: Type.Integer(),
  options: Json,
  /** The products of an outfit, in the order of the call; null for a single product. */
  layers: Nullable(Type.Array(LayerSchema)),
  /** Generation whose result it copies or may copy. */
  reusedFrom: Nullable(Type.String()),
  snapshot: Json,
  progress: Nullable(Type.Number()),
  /** Null when there was no photo, or the photo has been deleted. */
  personKey: Nullable(Type.String()),
  resultKey: Nullable(Type.String()),
  results: Nullable(Type.Array(StoredResultSchema)),
  imagesExpireAt: Timestamp,
  errorMessage: Nullable(Type.String()),
  errorDetails: Nullable(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  warnings: Type.Array(Type.String()),
  timings: Nullable(Type.Record(Type.String(), Type.Number())),
  engineInfo: Json,
  category: Nullable(Type.String()),
  quality: Nullable(Type.Number()),
  deadlineAt: Timestamp,
  startedAt: Nullable(Timestamp),
  finishedAt: Nullable(Timestamp),
})
export type GenerationDetail = Static<typeof DetailRow>

const found = sql.fragment`
  generations.id, generations.account_id as "accountId", accounts.name as "accountName",
  coalesce(join_layers(layers, 'externalId'), product_external_id) as "productExternalId",
  coalesce(join_layers(layers, 'title'), snapshot ->> 'title') as "productTitle", engine, shop_id as "shopId", status, error_code as "errorCode",
  extract(epoch from finished_at - generations.created_at)::float8 as seconds, generations.created_at as "createdAt"`

const EventRow = Type.Object({
  at: Timestamp,
  what: Type.String(),
  about: Type.String(),
  /** Page of the dashboard with the details. */
  link: Nullable(Type.String()),
})
export type GenerationEvent = Static<typeof EventRow>

export type GenerationSearches = ReturnType<typeof createGenerationSearches>

/** Searches the generations of all accounts. Generations with test keys appear only when their account is named. */
export function createGenerationSearches(database: Database) {
  return {
    listing: createListing(database, {
      row: FoundRow,
      rows: ({ only = {} }) => sql.fragment`
        select ${found} from generations join accounts on accounts.id = generations.account_id
        where ${'accountId' in only ? sql.fragment`true` : sql.fragment`engine <> ${TEST_ENGINE}`}
          and ${'errorCode' in only ? sql.fragment`status = 'FAILED'` : sql.fragment`true`}`,
      texts: ['id', 'accountName', 'productExternalId', 'productTitle'],
    }),

    /** Credit movements and webhooks of a generation. */
    listEvents: (id: string): Promise<readonly GenerationEvent[]> =>
      database.any(sql.type(rowType(EventRow))`
        select created_at as at, 'credits: ' || kind as what, to_char(amount, 'SG999999990') as about,
          '/accounts/' || account_id || '/ledger' as link
        from ledger where generation_id = ${id}
        union all
        select coalesce(ended_at, last_attempt_at, webhook_deliveries.created_at), 'webhook ' || type || ': ' || status,
          concat_ws(', ', attempts || ' attempts', 'HTTP ' || last_status, last_error), '/webhooks/' || endpoint_id
        from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
        where event_id = 'evt_' || substr(${id}, 5)
        order by at`),

    /** All stored fields of a generation; null when it does not exist. */
    find: (id: string): Promise<GenerationDetail | null> =>
      database.maybeOne(sql.type(rowType(DetailRow))`
        select ${found}, requested_engine as "requestedEngine", generations.external_user_id as "externalUserId",
          attempt, past_attempts as "pastAttempts", worker, cost,
          options, layers, reused_from as "reusedFrom", snapshot, progress, images.object_key as "personKey", ${keptResultKey} as "resultKey",
          ${keptResults} as results,
          images_expire_at as "imagesExpireAt", error_message as "errorMessage", error_details as "errorDetails", generations.warnings, timings,
          engine_info as "engineInfo", category, quality, deadline_at as "deadlineAt", started_at as "startedAt",
          finished_at as "finishedAt"
        from generations join accounts on accounts.id = generations.account_id
        left join images on images.id = generations.image_id
        where generations.id = ${id}`),
  }
}
