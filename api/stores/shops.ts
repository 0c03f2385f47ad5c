import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { type Database, rowType, sql, Timestamp } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'
import { type AccountRecord, AccountRow, accountColumns } from './accounts.ts'

export const SHOP_PLATFORMS = ['shopify', 'plugin', 'development'] as const
export type ShopPlatform = (typeof SHOP_PLATFORMS)[number]

const ShopRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  platform: Type.Enum([...SHOP_PLATFORMS]),
  domain: Type.String(),
  name: Nullable(Type.String()),
  /** Newest first. */
  secrets: Type.Array(Type.Object({ secret: Type.String(), createdAt: Type.String() })),
  adminUrl: Nullable(Type.String()),
  adminToken: Nullable(Type.String()),
  monthlyGenerations: Nullable(Type.Integer()),
  billingAllowed: Type.Boolean(),
  planEndsAt: Nullable(Timestamp),
  isActive: Type.Boolean(),
})
export type ShopRecord = Static<typeof ShopRow>

const EditedRow = Type.Object({ ...ShopRow.properties, edition: Type.String() })
/** A shop with what stands for its settings as they are. */
export type EditedShop = Static<typeof EditedRow>

const shopEdition = sql.fragment`
  md5(row(name, admin_url, admin_token, monthly_generations, billing_allowed, plan_ends_at, is_active)::text)`

const columns = sql.fragment`
  shops.id, shops.account_id as "accountId", platform, domain, shops.name, secrets, admin_url as "adminUrl",
  admin_token as "adminToken", monthly_generations as "monthlyGenerations", billing_allowed as "billingAllowed",
  plan_ends_at as "planEndsAt", shops.is_active as "isActive"`

/** A shop and the account that pays for it. */
export interface FoundShop {
  readonly shop: ShopRecord
  readonly account: AccountRecord
}

/** What an operator sets; null takes a setting away. */
export interface ShopSettings {
  readonly name?: string | null
  readonly adminUrl?: string | null
  readonly adminToken?: string | null
  readonly monthlyGenerations?: number | null
  readonly billingAllowed?: boolean
  readonly planEndsAt?: Date | null
  readonly isActive?: boolean
}

export interface NewShop extends ShopSettings {
  readonly accountId: string
  readonly platform: ShopPlatform
  readonly domain: string
  readonly secret?: string
}

/** A secret that nobody can guess, for a proxy that we may give one. */
export function generateShopSecret(): string {
  return randomBytes(32).toString('base64url')
}

export type Shops = ReturnType<typeof createShops>

/** Shops, and how their proxies prove themselves. */
export function createShops(database: Database) {
  /** Shops are named by id or domain. */
  const change = async (
    shop: string,
    changes: SqlFragment,
    { when = sql.fragment`true`, otherwise = '' }: { when?: SqlFragment; otherwise?: string } = {},
  ): Promise<ShopRecord> => {
    const isNamed = sql.fragment`(id = ${shop} or domain = lower(${shop}))`
    const changed = await database.maybeOne(sql.type(rowType(ShopRow))`
      update shops set ${changes} where ${isNamed} and ${when} returning ${columns}`)
    if (changed !== null) return changed
    const isKnown = await database.exists(sql.unsafe`select 1 from shops where ${isNamed}`)
    throw isKnown ? invalid('secret', otherwise) : invalid('shop', `There is no shop ${shop}.`)
  }

  return {
    /** The active shop of this domain, in whatever case, with its account, which is active too. */
    find: async (domain: string): Promise<FoundShop | null> => {
      const isNamed = sql.fragment`domain = lower(${domain}) and shops.is_active`
      // Both are asked for whether or not there is one: a shop that does not exist takes as long to look up as one that does.
      const [shop, account] = await Promise.all([
        database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where ${isNamed}`),
        database.maybeOne(sql.type(rowType(AccountRow))`
          select ${accountColumns} from accounts
          where id = (select account_id from shops where ${isNamed}) and is_active`),
      ])
      return shop === null || account === null ? null : { shop, account }
    },

    /** The shop of this domain, active or not. */
    findByDomain: (domain: string): Promise<ShopRecord | null> =>
      database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where domain = lower(${domain})`),

    /** The shop of this id, active or not. */
    findById: (id: string): Promise<ShopRecord | null> =>
      database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where id = ${id}`),

    /** The same with its edition, another one for whatever `update` can change. */
    findEdition: (id: string): Promise<EditedShop | null> =>
      database.maybeOne(sql.type(rowType(EditedRow))`
        select ${columns}, ${shopEdition} as edition from shops where id = ${id}`),

    /** Every shop, or those of an account, in the order in which they came. */
    list: (accountId: string | null): Promise<readonly ShopRecord[]> =>
      database.any(sql.type(rowType(ShopRow))`
        select ${columns} from shops where ${accountId}::text is null or account_id = ${accountId} order by id`),

    /** A new shop. Throws `ACCOUNT_NOT_FOUND`, or `VALIDATION_FAILED` when the domain has a shop already. */
    insert: async ({ accountId, platform, domain, secret, ...settings }: NewShop) => {
      const id = `shop_${uuidv7()}`
      const secrets = secret === undefined ? [] : [newSecret(secret)]
      const { billingAllowed = true, isActive = true } = settings
      const isKnown = await database.exists(sql.unsafe`select 1 from accounts where id = ${accountId}`)
      if (!isKnown) throw new DrapeError('ACCOUNT_NOT_FOUND', `There is no account ${accountId}.`)
      const { rowCount } = await database.query(sql.unsafe`
        insert into shops (
          id, account_id, platform, domain, name, secrets, admin_url, admin_token, monthly_generations, billing_allowed,
          plan_ends_at, is_active
        ) values (
          ${id}, ${accountId}, ${platform}, lower(${domain}), ${settings.name ?? null}, ${sql.jsonb(secrets)},
          ${settings.adminUrl ?? null}, ${settings.adminToken ?? null}, ${settings.monthlyGenerations ?? null},
          ${billingAllowed}, ${settings.planEndsAt?.toISOString() ?? null}, ${isActive}
        )
        on conflict (domain) do nothing`)
      if (rowCount === 0) throw invalid('domain', `There is a shop with the domain ${domain} already.`)
      return { id, domain: domain.toLowerCase() }
    },

    /** Changes what is given of a shop, named by id or domain. Throws `VALIDATION_FAILED` when there is none. */
    update: (shop: string, settings: ShopSettings): Promise<ShopRecord> => change(shop, assignments(settings)),

    /** Changes what is given, unless somebody has changed the shop since this edition of it: then null. */
    updateEdition: (id: string, settings: ShopSettings, edition: string): Promise<ShopRecord | null> =>
      database.maybeOne(sql.type(rowType(ShopRow))`
        update shops set ${assignments(settings)} where id = ${id} and ${shopEdition} = ${edition} returning ${columns}`),

    /** Makes a secret live beside the one that it is to replace. Throws `VALIDATION_FAILED` when two are live already. */
    addSecret: (shop: string, secret: string): Promise<ShopRecord> =>
      change(shop, sql.fragment`secrets = ${sql.jsonb([newSecret(secret)])} || secrets`, {
        when: sql.fragment`jsonb_array_length(secrets) < 2 and not secrets @> ${sql.jsonb([{ secret }])}`,
        otherwise: 'The secret is live already, or two others are: remove one first.',
      }),

    /** Ends a secret, or the older one of two. Throws `VALIDATION_FAILED` when there is no such secret. */
    removeSecret: (shop: string, secret: string | null): Promise<ShopRecord> =>
      secret === null
        ? change(shop, sql.fragment`secrets = secrets - 1`, {
            when: sql.fragment`jsonb_array_length(secrets) = 2`,
            otherwise: 'Only one secret is live: say which to remove.',
          })
        : change(
            shop,
            sql.fragment`secrets = jsonb_path_query_array(secrets, ${OTHERS}::jsonpath, ${sql.jsonb({ secret })})`,
            {
              when: sql.fragment`secrets @> ${sql.jsonb([{ secret }])}`,
              otherwise: 'The shop has no such secret.',
            },
          ),
  }
}

const OTHERS = '$[*] ? (@.secret != $secret)'

type SqlFragment = ReturnType<typeof sql.fragment>

function newSecret(secret: string) {
  return { secret, createdAt: new Date().toISOString() }
}

/** Throws `VALIDATION_FAILED` when nothing is given. */
function assignments(settings: ShopSettings): SqlFragment {
  const { name, adminUrl, adminToken, monthlyGenerations, billingAllowed, planEndsAt, isActive } = settings
  const changes = [
    name !== undefined && sql.fragment`name = ${name}`,
    adminUrl !== undefined && sql.fragment`admin_url = ${adminUrl}`,
    adminToken !== undefined && sql.fragment`admin_token = ${adminToken}`,
    monthlyGenerations !== undefined && sql.fragment`monthly_generations = ${monthlyGenerations}`,
    billingAllowed !== undefined && sql.fragment`billing_allowed = ${billingAllowed}`,
    planEndsAt !== undefined && sql.fragment`plan_ends_at = ${planEndsAt?.toISOString() ?? null}`,
    isActive !== undefined && sql.fragment`is_active = ${isActive}`,
  ].filter((change) => change !== false)
  if (changes.length === 0) throw invalid('shop', 'Nothing is to be changed.')
  return sql.fragment`${sql.join(changes, sql.fragment`, `)}`
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', message, { details: [{ path, message }] })
}
