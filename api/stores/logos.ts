import { type Database, rowType, sql } from '../shared/database/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Type } from '../shared/schema.ts'

const Replaced = rowType(Type.Object({ id: Type.String() }))

/** A logo that was replaced stays for the generations that were accepted with it. */
const RETIREMENT_DAYS = 1

export type Logos = ReturnType<typeof createLogos>

/** Which stored object is an account's logo. */
export function createLogos(database: Database) {
  return {
    /**
     * Makes a stored object the account's logo and keeps it from being swept; null takes the logo away. The one before is swept
     * later. Throws `ACCOUNT_NOT_FOUND`.
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
