import { SAFETY_CHECKS, TRY_ON_IMAGES } from '../../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { createListing } from '../../shared/database/listing.ts'
import { isAppealable } from '../../shared/generations/generations.store.ts'
import type { REVIEW_DECISIONS } from '../../webhooks/messages.schema.ts'
import { insertDeliveries } from '../../webhooks/webhook-outbox.store.ts'
import { createSafetyBlocks } from './safety-blocks.store.ts'

export const REVIEW_STATES = ['OPEN', 'ALLOWED', 'REFUSED', 'BLOCKED'] as const
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number]

const ReviewRow = Type.Object({
  generationId: Type.String(),
  accountId: Type.String(),
  /** Shop whose shopper requested the generation; null for calls of the server API. */
  shopId: Nullable(Type.String()),
  check: Type.Enum([...SAFETY_CHECKS]),
  /** The refused image; null: the result. */
  image: Nullable(Type.Enum([...TRY_ON_IMAGES])),
  reason: Type.String(),
  /** Whether the shopper wrote the reason, and not the account. */
  byShopper: Type.Boolean(),
  version: Type.Integer(),
  state: Type.Enum([...REVIEW_STATES]),
  answer: Nullable(Type.String()),
  createdAt: Timestamp,
  decidedAt: Nullable(Timestamp),
  usedBy: Nullable(Type.String()),
})
export type Review = Static<typeof ReviewRow>

const ListedRow = Type.Object({
  ...ReviewRow.properties,
  /** Of the generation. */
  id: Type.String(),
  accountName: Type.String(),
  /** Of an open review; null after the decision. */
  turn: Nullable(Type.Integer()),
})
export type ListedReview = Static<typeof ListedRow>

const Age = rowType(Type.Object({ seconds: Nullable(Type.Number()) }))

const RefusalRow = Type.Object({
  /** Error code of the generation. */
  code: Type.String(),
  /** The refused image; null: the result. */
  image: Nullable(Type.Enum([...TRY_ON_IMAGES])),
})
export type Refusal = Static<typeof RefusalRow>

const columns = sql.fragment`safety_reviews.generation_id as "generationId", safety_refusals.account_id as "accountId", shop_id as "shopId",
  failed_check as check, image, reason, by_shopper as "byShopper", version, state, answer, safety_reviews.created_at as "createdAt",
  decided_at as "decidedAt", used_by as "usedBy"`
const reviews = sql.fragment`safety_reviews join safety_refusals using (generation_id)
  join generations on generations.id = generation_id`

/** Open appeals of an account, and of the shoppers of each of its shops: shoppers must not shut out the account, nor other shops. */
const MAX_OPEN = 100

export type SafetyReviews = ReturnType<typeof createSafetyReviews>

/** Appeals against refusals by safety checks, from the account to the decision of an operator. */
export function createSafetyReviews(database: Database) {
  const find = (generationId: string): Promise<Review | null> =>
    database.maybeOne(sql.type(rowType(ReviewRow))`
      select ${columns} from ${reviews} where generation_id = ${generationId}`)
  const findRefusal = (generationId: string): Promise<Refusal | null> =>
    database.maybeOne(sql.type(rowType(RefusalRow))`
      select error_code as code, image from generations join safety_refusals on generation_id = id
      where id = ${generationId} and ${isAppealable}`)
  return {
    find,

    /** Null when no safety check refused the generation, or its images had no hash. */

    findRefusal,

    /**
     * Stores the appeal, or the new reason of the account while its appeal is open; decided appeals and appeals of shoppers stay unchanged.
     * Returns null when no safety check refused the generation, or its images had no hash; `full` when the account, or the shoppers of the
     * shop, have reached the limit of open appeals.
     */
    appeal: async (
      generationId: string,
      reason: string,
      { byShopper = false }: { readonly byShopper?: boolean } = {},
    ): Promise<Review | 'full' | null> => {
      await database.query(sql.unsafe`
        insert into safety_reviews as known (generation_id, reason, by_shopper)
        select id, ${reason}, ${byShopper} from generations
        where id = ${generationId} and ${isAppealable} and (
          select count(*) from safety_reviews as others join generations as theirs on theirs.id = others.generation_id
          where state = 'OPEN' and by_shopper = ${byShopper} and theirs.account_id = generations.account_id
            and (not by_shopper or theirs.shop_id is not distinct from generations.shop_id)
            and theirs.id <> generations.id) < ${MAX_OPEN}
        on conflict (generation_id) do update set reason = excluded.reason, version = known.version + 1
          where known.state = 'OPEN' and not known.by_shopper and not excluded.by_shopper and known.reason <> excluded.reason`)
      return (await find(generationId)) ?? ((await findRefusal(generationId)) === null ? null : 'full')
    },

    /** Seconds since the oldest open appeal of a live account was made; null when there is none. Inactive accounts and those of test mode do not count. */
    measureOldest: (): Promise<number | null> =>
      database.oneFirst(sql.type(Age)`
        select extract(epoch from now() - min(safety_reviews.created_at))::float8 as seconds
        from ${reviews} join accounts on accounts.id = generations.account_id
        where state = 'OPEN' and is_active and test_of is null`),

    /**
     * Open reviews first, in turn from each account, and within it from the account and the shoppers of each shop, oldest first;
     * then the newest decisions. Takes turns, so that many appeals of one account or shop do not hide those of others.
     */
    listing: listInTurn(database),

    /**
     * Decides on this version of an appeal; false when the account changed it or it was decided before. BLOCKED blocks the refused image;
     * after a refused result the pair of photo and product image, and neither alone. MUST be called in the transaction that records the
     * decision.
     */
    decide: async (
      generationId: string,
      { version, decision, answer, blockDays = null }: Decision,
    ): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        with decided as (
          update safety_reviews set state = ${decision}, answer = ${answer}, decided_at = now_ms()
          where generation_id = ${generationId} and version = ${version} and state = 'OPEN'
          returning generation_id, state, decided_at
        ), notified as (${insertDeliveries(decidedReviews)})
        select from decided`)
      if (rowCount === 0) return false
      if (decision === 'BLOCKED') await createSafetyBlocks(database).insert({ generationId, days: blockDays })
      return true
    },
  }
}

function listInTurn(database: Database) {
  const rows = sql.fragment`
    with waiting as (
      select generation_id, generations.account_id, safety_reviews.created_at, row_number() over (
        partition by generations.account_id, shop_id, by_shopper order by safety_reviews.created_at, generation_id) as turn_in_shop
      from ${reviews} where state = 'OPEN'
    ), turns as (
      select generation_id, row_number() over (
        partition by account_id order by turn_in_shop, created_at, generation_id) as turn from waiting
    )
    select ${columns}, generation_id as id, accounts.name as "accountName", turn
    from ${reviews} join accounts on accounts.id = generations.account_id left join turns using (generation_id)`
  const order = sql.fragment`turn, case when state = 'OPEN' then "createdAt" end, "decidedAt" desc, id`
  return createListing(database, { row: ListedRow, rows, texts: ['id', 'accountName'], order })
}

/** Webhook data of decided reviews: IDs and the decision, neither reason nor answer. */
const decidedReviews = sql.fragment`
  select account_id, 'evt_' || gen_random_uuid() as id, 'review.decided' as type, decided_at as happened_at,
    jsonb_strip_nulls(jsonb_build_object('generationId', generation_id, 'state', state,
      'productExternalId', shown_product(layers, product_external_id), 'shopId', shop_id))
      || case when layers is null then '{}' else jsonb_build_object('layers', present_layers(layers)) end as data
  from decided join generations on generations.id = generation_id`

interface Decision {
  readonly version: number
  readonly decision: ReviewDecision
  /** For the account, and the shopper who appealed. */
  readonly answer: string
  /** After how many days a block ends; null: never. */
  readonly blockDays?: number | null
}
