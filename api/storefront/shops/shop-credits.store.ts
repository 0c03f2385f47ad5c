import { isPaid, roomOfShop } from '../../generations/shopper-limits.store.ts'
import { Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'

const Verdict = rowType(Type.Object({ allowed: Type.Boolean() }))

/** Checks whether a generation of any shopper of a shop would be accepted now. */
export function createShopCredits(database: Database) {
  return {
    find: async (shopId: string): Promise<boolean> => {
      const verdict = await database.maybeOne(sql.type(Verdict)`
        select accounts.is_active and balance > 0 and ${isPaid} and coalesce(${roomOfShop} > 0, true)
          and case when settings->>'monthlyGenerations' is null then true
            else count_since(accounts.id, date_trunc('month', now(), 'UTC')) < (settings->>'monthlyGenerations')::bigint
            end as allowed
        from shops join accounts on accounts.id = shops.account_id where shops.id = ${shopId}`)
      return verdict?.allowed ?? false
    },
  }
}
