import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { SAFETY_CHECKS, TRY_ON_IMAGES } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'
import { toBits } from '../shared/stores/image-hashes.ts'

export const REVIEW_STATES = ['OPEN', 'ALLOWED', 'REFUSED', 'BLOCKED'] as const
export const REVIEW_DECISIONS = ['ALLOWED', 'REFUSED', 'BLOCKED'] as const
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number]

const ReviewRow = Type.Object({
  generationId: Type.String(),
  accountId: Type.String(),
  check: Type.Enum([...SAFETY_CHECKS]),
  /** The refused image; null: the result. */
  image: Nullable(Type.Enum([...TRY_ON_IMAGES])),
  reason: Type.String(),
  version: Type.Integer(),
  state: Type.Enum([...REVIEW_STATES]),
  answer: Nullable(Type.String()),
  createdAt: Timestamp,
  decidedAt: Nullable(Timestamp),
  usedBy: Nullable(Type.String()),
})
export type Review = Static<typeof ReviewRow>

const Age = rowType(Type.Object({ seconds: Nullable(Type.Number()) }))

const columns = sql.fragment`safety_reviews.generation_id as "generationId", account_id as "accountId", failed_check as check, image, reason,
  version, state, answer, safety_reviews.created_at as "createdAt", decided_at as "decidedAt", used_by as "usedBy"`
const reviews = sql.fragment`safety_reviews join safety_refusals using (generation_id)`

/** Open appeals of an account: one account must not bury those of others. */
const MAX_OPEN = 100

export type SafetyReviews = ReturnType<typeof createSafetyReviews>

/** Appeals against refusals by safety checks, from the account to the decision of an operator. */
export function createSafetyReviews(database: Database) {
  const find = (generationId: string): Promise<Review | null> =>
    database.maybeOne(sql.type(rowType(ReviewRow))`
      select ${columns} from ${reviews} where generation_id = ${generationId}`)
  return {
    find,

    /**
     * Stores the appeal, or its new reason while it is open; a decided one stays as it is. Returns null when no safety check refused the
     * generation, or its images had no hash; `full` when the account has the max count of open appeals.
     */
    appeal: async (generationId: string, reason: string): Promise<Review | 'full' | null> => {
      await database.query(sql.unsafe`
        insert into safety_reviews as known (generation_id, reason)
        select generation_id, ${reason} from safety_refusals join generations on generations.id = generation_id
        where generation_id = ${generationId} and status = 'FAILED' and (
          select count(*) from safety_reviews as others join safety_refusals as theirs using (generation_id)
          where others.state = 'OPEN' and theirs.account_id = safety_refusals.account_id
            and others.generation_id <> ${generationId}) < ${MAX_OPEN}
        on conflict (generation_id) do update set reason = excluded.reason, version = known.version + 1
          where known.state = 'OPEN' and known.reason <> excluded.reason`)
      const review = await find(generationId)
      if (review !== null) return review
      const isRefused = await database.exists(sql.unsafe`
        select from safety_refusals join generations on generations.id = generation_id
        where generation_id = ${generationId} and status = 'FAILED'`)
      return isRefused ? 'full' : null
    },

    /** Seconds since the oldest open appeal of a live account was made; null when there is none. Inactive accounts and those of test mode do not count. */
    measureOldest: (): Promise<number | null> =>
      database.oneFirst(sql.type(Age)`
        select extract(epoch from now() - min(safety_reviews.created_at))::float8 as seconds
        from ${reviews} join accounts on accounts.id = account_id
        where state = 'OPEN' and is_active and test_of is null`),

    /** Open reviews first, the oldest at the top; then the newest decisions. */
    list: (limit: number): Promise<readonly Review[]> =>
      database.any(sql.type(rowType(ReviewRow))`
        select ${columns} from ${reviews}
        order by state <> 'OPEN', case when state = 'OPEN' then safety_reviews.created_at end, decided_at desc
        limit ${limit}`),

    /**
     * Decides on this version of an appeal; false when the account changed it or it was decided before. BLOCKED blocks the refused image,
     * of a refused result the photo. MUST be called in the transaction that records the decision.
     */
    decide: async (generationId: string, { version, decision, answer }: Decision): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update safety_reviews set state = ${decision}, answer = ${answer}, decided_at = now_ms()
        where generation_id = ${generationId} and version = ${version} and state = 'OPEN'`)
      if (rowCount === 0) return false
      if (decision === 'BLOCKED')
        await database.query(sql.unsafe`
          insert into safety_blocks (hash)
          select ${toBits(sql.fragment`hex`)} from safety_refusals
          cross join unnest(case when image = 'product' then product_hashes else person_hashes end) as named (hex)
          where generation_id = ${generationId}
          on conflict do nothing`)
      return true
    },
  }
}

interface Decision {
  readonly version: number
  readonly decision: ReviewDecision
  /** Only the account of the appeal reads it. */
  readonly answer: string
}
