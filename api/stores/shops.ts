import { v7 as uuidv7 } from 'uuid'
import { type Database, rowType, sql, Timestamp } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { type Static, Type } from '../shared/schema.ts'
import { AccountRow, accountColumns } from './accounts.ts'

const PLATFORMS = ['shopify', 'plugin', 'development'] as const
export type ShopPlatform = (typeof PLATFORMS)[number]

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

const ShopRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  platform: Type.Enum([...PLATFORMS]),
  domain: Type.String(),
  name: Nullable(Type.String()),
  /** Newest first. */
  secrets: Type.Array(Type.Object({ secret: Type.String(), createdAt: Type.String() })),
  adminUrl: Nullable(Type.String()),
  adminToken: Nullable(Type.String()),
  monthlyGenerations: Nullable(Type.Integer()),
  billingAllowed: Type.Boolean(),
  planEndsAt: Nullable(Timestamp),
})
export type ShopRecord = Static<typeof ShopRow>

const columns = sql.fragment`
  shops.id, shops.account_id as "accountId", platform, domain, shops.name, secrets, admin_url as "adminUrl",
  admin_token as "adminToken", monthly_generations as "monthlyGenerations", billing_allowed as "billingAllowed",
  plan_ends_at as "planEndsAt"`

export interface NewShop {
  readonly accountId: string
  readonly platform: ShopPlatform
  readonly domain: string
  readonly name?: string | null
  readonly secret?: string
}

export type Shops = ReturnType<typeof createShops>

/** Shops, and how their proxies prove themselves. */
export function createShops(database: Database) {
  return {
    /** The active shop of this domain, in whatever case, with its account, which is active too. */
    find: async (domain: string) => {
      const shop = await database.maybeOne(sql.type(rowType(ShopRow))`
        select ${columns} from shops where domain = lower(${domain}) and is_active`)
      if (shop === null) return null
      const account = await database.maybeOne(sql.type(rowType(AccountRow))`
        select ${accountColumns} from accounts where id = ${shop.accountId} and is_active`)
      return account === null ? null : { shop, account }
    },

    /** A new shop. Throws `ACCOUNT_NOT_FOUND`. */
    insert: async ({ accountId, platform, domain, name = null, secret }: NewShop): Promise<{ id: string }> => {
      const id = `shop_${uuidv7()}`
      const secrets = secret === undefined ? [] : [{ secret, createdAt: new Date().toISOString() }]
      const { rowCount } = await database.query(sql.unsafe`
        insert into shops (id, account_id, platform, domain, name, secrets)
        select ${id}, id, ${platform}, lower(${domain}), ${name}, ${sql.jsonb(secrets)}
        from accounts where id = ${accountId}`)
      if (rowCount === 0) throw new DrapeError('ACCOUNT_NOT_FOUND', `There is no account ${accountId}.`)
      return { id }
    },
  }
}
