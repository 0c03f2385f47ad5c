import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { type AccountRecord, AccountRow, accountColumns } from '../accounts/accounts.store.ts'
import { addLiveSecret, LiveSecrets, openSecrets, removeLiveSecret, sealSecret } from '../secrets/live-secrets.store.ts'
import { DrapeError, refusedValue } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { mapSettings, rowMembers, type SettingValues, splitWords } from '../shared/contract/setting.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'
import type { SecretPlace } from '../shared/signing/secret-box.ts'
import { ACCESS_TOKEN, SHOP_SETTINGS } from './shop-settings.ts'

export const SHOP_PLATFORMS = ['shopify', 'plugin', 'development'] as const
export type ShopPlatform = (typeof SHOP_PLATFORMS)[number]

/** Columns of the settings by their names in programs. */
const COLUMNS: Readonly<Record<string, string>> = {
  ...mapSettings(SHOP_SETTINGS, (_, name) => splitWords(name, '_')),
  adminToken: 'admin_token',
  planEndsAt: 'plan_ends_at',
}

const members = {
  id: Type.String(),
  accountId: Type.String(),
  platform: Type.Enum([...SHOP_PLATFORMS]),
  domain: Type.String(),
  secrets: LiveSecrets,
  ...rowMembers(SHOP_SETTINGS),
  adminToken: Nullable(Type.String()),
  adminRefusedAt: Nullable(Timestamp),
  holdoutSince: Timestamp,
  planEndsAt: Nullable(Timestamp),
}

export interface ShopRecord extends Omit<SettingValues<typeof SHOP_SETTINGS>, 'extraDomains'> {
  readonly id: string
  readonly accountId: string
  readonly platform: ShopPlatform
  readonly domain: string
  readonly extraDomains: readonly string[]
  /** Newest first. The secrets and the token are sealed, except in the results of `find`, `findByDomain` and `findOpen`. */
  readonly secrets: Static<typeof LiveSecrets>
  /** With `adminClientId`: a refresh token, or null for an app that obtains tokens with its secret alone. */
  readonly adminToken: string | null
  /** Since when the platform refuses the token; null: it does not. */
  readonly adminRefusedAt: Date | null
  /** Since when the shop has its `holdoutPercent`. */
  readonly holdoutSince: Date
  readonly planEndsAt: Date | null
}
const ShopRow = Type.Unsafe<ShopRecord>(Type.Object(members))

/** A shop and the edition of its settings. */
export interface EditedShop extends ShopRecord {
  readonly edition: string
}
const EditedRow = Type.Unsafe<EditedShop>(Type.Object({ ...members, edition: Type.String() }))

const settingColumns = Object.entries(COLUMNS).map(([name, column]) => ({
  key: name,
  name: sql.identifier([name]),
  column: sql.identifier(['shops', column]),
}))

// The token changes by itself too.
const shopEdition = sql.fragment`md5(row(${sql.join(
  settingColumns.filter(({ key }) => key !== 'adminToken').map(({ column }) => column),
  sql.fragment`, `,
)})::text)`

const columns = sql.fragment`
  shops.id, shops.account_id as "accountId", platform, domain, secrets, admin_refused_at as "adminRefusedAt",
  holdout_since as "holdoutSince", ${sql.join(
    settingColumns.map(({ name, column }) => sql.fragment`${column} as ${name}`),
    sql.fragment`, `,
  )}`

const ListedRow = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  name: Nullable(Type.String()),
  platform: Type.Enum([...SHOP_PLATFORMS]),
  isActive: Type.Boolean(),
  monthlyGenerations: Nullable(Type.Integer()),
  accountId: Type.String(),
  accountName: Type.String(),
  createdAt: Timestamp,
})
/** A shop without its secrets. */
export type ListedShop = Static<typeof ListedRow>

/** A shop and the account that is charged for it. */
export interface FoundShop {
  readonly shop: ShopRecord
  readonly account: AccountRecord
}

/**
 * Settings of a shop. Null removes a setting. Default of `requiresConsent` of a new shop: whether a policy is published under its domain;
 * publishing the first one turns it on.
 */
export type ShopSettings = Partial<
  Omit<SettingValues<typeof SHOP_SETTINGS>, 'extraDomains'> & {
    /** Case-insensitive; null equals an empty list. */
    readonly extraDomains: readonly string[] | null
    readonly adminToken: string | null
    readonly planEndsAt: Date | null
  }
>

export interface NewShop extends ShopSettings {
  readonly accountId: string
  readonly platform: ShopPlatform
  readonly domain: string
  readonly secret?: string
}

/** Random secret for a proxy whose secret Drape chooses. */
export function generateShopSecret(): string {
  return randomBytes(32).toString('base64url')
}

export type Shops = ReturnType<typeof createShops>

/** Store of shops and of the secrets of their proxies. */
export function createShops(database: Database) {
  /** Matches a shop by ID or domain. */
  const named = (shop: string) => sql.fragment`(id = ${shop} or domain = lower(${shop}))`
  const get = (id: string): Promise<ShopRecord> =>
    database.one(sql.type(rowType(ShopRow))`select ${columns} from shops where id = ${id}`)

  return {
    /** The active shop of this domain (case-insensitive) and its account, active or not. */
    find: async (domain: string): Promise<FoundShop | null> => {
      const isNamed = sql.fragment`domain = lower(${domain}) and shops.is_active`
      // Query both in any case: looking up an unknown shop takes as long as looking up an existing one.
      const [shop, account] = await Promise.all([
        database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where ${isNamed}`),
        database.maybeOne(sql.type(rowType(AccountRow))`
          select ${accountColumns} from accounts
          where id = (select account_id from shops where ${isNamed})`),
      ])
      return shop === null || account === null ? null : { shop: await openShop(database, shop), account }
    },

    /** The shop of this domain, active or not. */
    findByDomain: async (domain: string): Promise<ShopRecord | null> => {
      const shop = await database.maybeOne(sql.type(rowType(ShopRow))`
        select ${columns} from shops where domain = lower(${domain})`)
      return shop && openShop(database, shop)
    },

    /** The shop with this ID or domain (case-insensitive), active or not. */
    findNamed: (shop: string): Promise<ShopRecord | null> =>
      database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where ${named(shop)}`),

    /** The shop of this id, active or not. */
    findById: (id: string): Promise<ShopRecord | null> =>
      database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where id = ${id}`),

    /** The shop of the account with this domain (case-insensitive) or ID, active or not. */
    findOfAccount: (accountId: string, name: string): Promise<Pick<ShopRecord, 'id' | 'domain'> | null> =>
      database.maybeOne(sql.type(DomainRow)`
        select id, domain from shops where account_id = ${accountId} and (domain = lower(${name}) or id = ${name})`),

    /** The shop of this ID with decrypted secrets and token. */
    findOpen: async (id: string): Promise<ShopRecord | null> => {
      const shop = await database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where id = ${id}`)
      return shop && openShop(database, shop)
    },

    /** The shop of this ID and its edition, which changes with every `update`. */
    findEdition: (id: string): Promise<EditedShop | null> =>
      database.maybeOne(sql.type(rowType(EditedRow))`
        select ${columns}, ${shopEdition} as edition from shops where id = ${id}`),

    /** Every shop, or the shops of an account, oldest first. */
    list: (accountId: string | null): Promise<readonly ShopRecord[]> =>
      database.any(sql.type(rowType(ShopRow))`
        select ${columns} from shops where ${accountId}::text is null or account_id = ${accountId} order by id`),

    listing: createListing(database, {
      row: ListedRow,
      rows: sql.fragment`
        select shops.id, domain, shops.name, platform, shops.is_active as "isActive", monthly_generations as "monthlyGenerations",
          account_id as "accountId", accounts.name as "accountName", shops.created_at as "createdAt"
        from shops join accounts on accounts.id = account_id`,
      texts: ['id', 'domain', 'name', 'accountName'],
    }),

    /** Creates a shop. Throws `ACCOUNT_NOT_FOUND`, or `VALIDATION_FAILED` when the domain already has a shop. */
    insert: (shop: NewShop) => insertShop(database, shop),

    /**
     * Updates the given settings of a shop, named by ID or domain. Throws `VALIDATION_FAILED` when the shop does not
     * exist.
     */
    update: async (shop: string, settings: ShopSettings): Promise<ShopRecord> => {
      const id = await database.maybeOneFirst(sql.type(Id)`select id from shops where ${named(shop)}`)
      if (id === null) throw unknownShop(shop)
      const changes = assignments(await sealToken(database, settings, id))
      const changed = await database.maybeOne(sql.type(rowType(ShopRow))`
        update shops set ${changes} where id = ${id} returning ${columns}`)
      if (changed === null) throw unknownShop(shop)
      return changed
    },

    /** Updates the given settings if the shop still has this edition. Returns null if the shop has changed. */
    updateEdition: async (id: string, settings: ShopSettings, edition: string): Promise<ShopRecord | null> => {
      const changes = assignments(await sealToken(database, settings, id))
      return database.maybeOne(sql.type(rowType(ShopRow))`
        update shops set ${changes} where id = ${id} and ${shopEdition} = ${edition} returning ${columns}`)
    },

    /** Adds a second active secret, for rotation. Throws `VALIDATION_FAILED` when 2 are active already. */
    addSecret: async (shop: string, secret: string): Promise<ShopRecord> => {
      const id = await addLiveSecret(database, { table: 'shops', where: named(shop) }, secret)
      if (id === null) throw unknownShop(shop)
      if (id === 'refused')
        throw refusedValue('secret', 'The secret is already active, or 2 others are. Remove one first.')
      // A token that is obtained with the secret may be refused no more.
      await database.query(sql.unsafe`
        update shops set admin_renew_at = now_ms(), admin_refused_at = null
        where id = ${id} and admin_client_id is not null and admin_refused_at is not null`)
      return get(id)
    },

    /** Removes a secret, or the older one of two. Throws `VALIDATION_FAILED` when the secret does not exist. */
    removeSecret: async (shop: string, secret: string | null): Promise<ShopRecord> => {
      const id = await removeLiveSecret(database, { table: 'shops', where: named(shop) }, { secret, min: 0 })
      if (id === null) throw unknownShop(shop)
      if (id !== 'refused') return get(id)
      const message =
        secret === null
          ? 'The shop has only one active secret. Name the secret to remove it.'
          : 'The shop does not have this secret.'
      throw refusedValue('secret', message)
    },
  }
}

const Id = rowType(Type.Object({ id: Type.String() }))
const DomainRow = rowType(Type.Object({ id: Type.String(), domain: Type.String() }))

async function insertShop(database: Database, { accountId, platform, domain, secret, ...settings }: NewShop) {
  const id = `shop_${uuidv7()}`
  const secrets = secret === undefined ? [] : [await sealSecret(database, secret, { table: 'shops', id })]
  const isKnown = await database.exists(sql.unsafe`select 1 from accounts where id = ${accountId}`)
  if (!isKnown) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
  const { requiresConsent = null, ...others } = await sealToken(database, settings, id)
  const hasPolicy = sql.fragment`exists (
    select from consent_policies where account_id = ${accountId} and policy = lower(${domain}))`
  const given = [
    { column: sql.identifier(['requires_consent']), value: sql.fragment`coalesce(${requiresConsent}, ${hasPolicy})` },
    ...columnsOf(others),
  ]
  const list = (parts: readonly SqlToken[]) => sql.join([...parts], sql.fragment`, `)
  const { rowCount } = await database.query(sql.unsafe`
    insert into shops (id, account_id, platform, domain, secrets, ${list(given.map(({ column }) => column))})
    values (${id}, ${accountId}, ${platform}, lower(${domain}), ${sql.jsonb(secrets)}, ${list(given.map(({ value }) => value))})
    on conflict (domain) do nothing`)
  if (rowCount === 0) throw refusedValue('domain', `A shop with the domain ${domain} already exists.`)
  return { id, domain: domain.toLowerCase() }
}

/** Decrypts the secrets and the token of a shop. */
async function openShop(database: Database, shop: ShopRecord): Promise<ShopRecord> {
  const { id, adminToken: token } = shop
  const [secrets, adminToken] = await Promise.all([
    openSecrets(database, shop.secrets, { table: 'shops', id }),
    token === null ? null : database.secrets.open(token, tokenPlace(id)),
  ])
  return { ...shop, secrets, adminToken }
}

/** Encrypts the token among the settings for storage. Throws `VALIDATION_FAILED` for one that no request can contain. */
async function sealToken(
  database: Database,
  { adminToken, ...settings }: ShopSettings,
  id: string,
): Promise<ShopSettings> {
  if (typeof adminToken !== 'string') return { ...settings, adminToken }
  if (!new RegExp(ACCESS_TOKEN).test(adminToken))
    throw refusedValue('adminToken', 'The token must be 1 to 1000 ASCII characters without spaces and line breaks.')
  return { ...settings, adminToken: await database.secrets.seal(adminToken, tokenPlace(id)) }
}

/** Column that stores a token for the platform's API. */
export function tokenPlace(id: string, column: 'admin_token' | 'admin_access_token' = 'admin_token'): SecretPlace {
  return { table: 'shops', column, id }
}

type SqlFragment = ReturnType<typeof sql.fragment>
type SqlToken = SqlFragment | ReturnType<typeof sql.identifier>

/** Throws `VALIDATION_FAILED` when no setting is given. */
function assignments(settings: ShopSettings): SqlFragment {
  const { adminUrl, adminClientId, adminToken, holdoutPercent } = settings
  const changes = columnsOf(settings).map(({ column, value }) => sql.fragment`${column} = ${value}`)
  if (changes.length === 0) throw refusedValue('shop', 'The request changes nothing. Name at least one setting.')
  // A token is bound to its address and its app: changing only these must not send the token elsewhere.
  const isSame = sql.join(
    [
      sql.fragment`${adminToken === undefined}`,
      ...(adminUrl === undefined ? [] : [sql.fragment`admin_url is not distinct from ${adminUrl}`]),
      ...(adminClientId === undefined ? [] : [sql.fragment`admin_client_id is not distinct from ${adminClientId}`]),
    ],
    sql.fragment` and `,
  )
  for (const name of ['admin_access_token', 'admin_refused_at', ...(adminToken === undefined ? ['admin_token'] : [])]) {
    const column = sql.identifier([name])
    changes.push(sql.fragment`${column} = case when ${isSame} then ${column} end`)
  }
  changes.push(sql.fragment`admin_renew_at = case when ${isSame} then admin_renew_at else now_ms() end`)
  if (holdoutPercent !== undefined) {
    const isKept = sql.fragment`holdout_percent is not distinct from ${holdoutPercent}`
    changes.push(sql.fragment`holdout_since = case when ${isKept} then holdout_since else now_ms() end`)
  }
  return sql.fragment`${sql.join(changes, sql.fragment`, `)}`
}

/** The columns of the given settings, and the values for them. */
function columnsOf({ extraDomains, planEndsAt, ...settings }: ShopSettings) {
  const values = {
    ...settings,
    extraDomains: extraDomains === undefined ? undefined : domainArray(extraDomains),
    planEndsAt: planEndsAt === undefined ? undefined : (planEndsAt?.toISOString() ?? null),
  }
  return Object.entries(COLUMNS).flatMap(([name, column]) => {
    const value = values[name as keyof typeof values]
    return value === undefined ? [] : [{ column: sql.identifier([column]), value: sql.fragment`${value}` }]
  })
}

function domainArray(domains: readonly string[] | null = null) {
  return sql.array([...new Set((domains ?? []).map((domain) => domain.toLowerCase()))], 'text')
}

function unknownShop(shop: string): DrapeError {
  return refusedValue('shop', `The shop ${shop} does not exist.`)
}
