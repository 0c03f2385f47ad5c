import { Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'

const Counts = { generations: Type.Integer(), failed: Type.Integer() }
const AddressCount = rowType(Type.Object({ address: Type.String(), ...Counts }))
const Total = rowType(Type.Object(Counts))

/** Counts of results and of failed generations. A failed generation that a worker started counts as an attempt. */
const counts = sql.fragment`
  count(*) filter (where status <> 'FAILED')::int as generations,
  count(*) filter (where status = 'FAILED' and started_at is not null)::int as failed`

export interface VisitorCounts {
  /** Generations today (UTC) by all visitors who are not signed in, without failed ones. */
  readonly generations: number
  /** Failed generations that a worker had started. */
  readonly failed: number
  /** Counts of the addresses with the highest counts, highest first. */
  readonly addresses: readonly { readonly address: string; readonly generations: number; readonly failed: number }[]
}

const MAX_ADDRESSES = 5

export type VisitorAddresses = ReturnType<typeof createVisitorAddresses>

/** Store of the hashes of network addresses and shoppers, which generations carry for the daily and weekly limits. */
export function createVisitorAddresses(database: Database) {
  return {
    /** Usage of today's visitor budgets of a shop. */
    countToday: async (shopId: string): Promise<VisitorCounts> => {
      const ofToday = sql.fragment`
        shop_id = ${shopId} and created_at >= date_trunc('day', now(), 'UTC') and visitor_address is not null`
      const total = await database.one(sql.type(Total)`select ${counts} from generations where ${ofToday}`)
      const addresses = await database.any(sql.type(AddressCount)`
        select visitor_address as address, ${counts} from generations
        where ${ofToday} group by 1 order by count(*) desc, 1 limit ${MAX_ADDRESSES}`)
      return { ...total, addresses }
    },

    /** Removes a batch of hashes that no limit counts any more: addresses after 1 day, shoppers of past weeks. Returns the count. */
    forget: async (limit: number): Promise<number> => {
      const ended = {
        visitor_address: sql.fragment`date_trunc('day', now(), 'UTC') - interval '1 day'`,
        shopper_hash: sql.fragment`date_trunc('week', now(), 'UTC')`,
      }
      let forgotten = 0
      for (const [column, end] of Object.entries(ended)) {
        const name = sql.identifier([column])
        const { rowCount } = await database.query(sql.unsafe`
          update generations set ${name} = null where id in (
            select id from generations where ${name} is not null and created_at < ${end}
            limit ${limit} for update skip locked)`)
        forgotten += rowCount
      }
      return forgotten
    },
  }
}
