import { type Database, sql } from '../database/database.ts'

/** Days in which a refusal by a safety check can be appealed, and in which its account can read and use a decision. */
const REVIEW_DAYS = 90

/** Deletes old refusals by safety checks, their reviews, and expired blocks. */
export function createOldReviews(database: Database) {
  return {
    /** Deletes old refusals by safety checks with their reviews, except open and newly decided ones. */
    deleteOldReviews: async (limit: number): Promise<number> => {
      const oldest = sql.fragment`now() - make_interval(days => ${REVIEW_DAYS})`
      const { rowCount } = await database.query(sql.unsafe`
        delete from safety_refusals where generation_id in (
          select generation_id from safety_refusals
          where created_at < ${oldest} and not exists (
            select from safety_reviews
            where safety_reviews.generation_id = safety_refusals.generation_id
              and (state = 'OPEN' or decided_at >= ${oldest}))
          order by created_at limit ${limit} for update skip locked)`)
      return rowCount
    },

    /** Deletes expired blocks. */
    deleteEndedBlocks: async (): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`delete from safety_blocks where expires_at <= now()`)
      return rowCount
    },
  }
}
