import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'

const Replaced = rowType(Type.Object({ id: Type.String() }))

/** Days that a replaced logo is kept, for generations that were accepted with it. */
const RETIREMENT_DAYS = 1

/** Store of the logo keys of accounts. */
export function createLogos(database: Database) {
  return {
    /**
     * Sets a stored object as the account's logo and holds it, so that no sweep deletes it; null removes the logo. A
     * later sweep deletes the previous logo. Throws `ACCOUNT_NOT_FOUND`.
     */
    replace: async ({ accountId, key }: { accountId: string; key: string | null }): Promise<void> => {
      const account = await database.maybeOne(sql.type(Replaced)`
        with former as (
          select id, logo_key from accounts where id = ${accountId} for update
        ), retired as (
          update objects set expires_at = now() + make_interval(days => ${RETIREMENT_DAYS}) from former
          where objects.key = former.logo_key and former.logo_key is distinct from ${key}::text
        ), kept as (
          update objects set expires_at = null where key = ${key}::text
        )
        update accounts set logo_key = ${key}::text from former where accounts.id = former.id
        returning accounts.id`)
      if (!account) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
    },
  }
}
