import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { type AccountRecord, AccountRow, accountColumns } from '../accounts/accounts.store.ts'
import { addLiveSecret, LiveSecrets, openSecrets, removeLiveSecret, sealSecret } from '../secrets/live-secrets.store.ts'
import { DrapeError, refusedValue } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { SAFETY_LEVELS } from '../shared/generations/generation.ts'
import type { SecretPlace } from '../shared/signing/secret-box.ts'

export const SHOP_PLATFORMS = ['shopify', 'plugin', 'development'] as const
export type ShopPlatform = (typeof SHOP_PLATFORMS)[number]

const ShopRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  platform: Type.Enum([...SHOP_PLATFORMS]),
  domain: Type.String(),
  /** Additional domains of the shop, in lower case. */
  extraDomains: Type.Array(Type.String()),
  name: Nullable(Type.String()),
  /** Newest first. The secrets and the token are sealed, except in the results of `find` and `findByDomain`. */
  secrets: LiveSecrets,
  adminUrl: Nullable(Type.String()),
  adminToken: Nullable(Type.String()),
  monthlyGenerations: Nullable(Type.Integer()),
  /**
   * Generations per day (UTC) by visitors who are not customers, per network address and in total; null: the default.
   */
  addressGenerations: Nullable(Type.Integer()),
  visitorGenerations: Nullable(Type.Integer()),
  /** Whether visitors who are not customers need a visitor token. */
  requiresVisitorToken: Type.Boolean(),
  /** Engine of try-ons by shoppers; null: the default engine of the account. */
  defaultEngine: Nullable(Type.String()),
  /** What images of its try-ons are checked for, and whether they may show underwear and swimwear; null: as the account. */
  safetyLevel: Nullable(Type.Enum([...SAFETY_LEVELS])),
  allowsSwimwear: Nullable(Type.Boolean()),
  /** Whether the shop stores photos only of visitors who have agreed to its policy. */
  requiresConsent: Type.Boolean(),
  /** Contact for questions of visitors about their data. */
  privacyContact: Nullable(Type.String()),
  billingAllowed: Type.Boolean(),
  planEndsAt: Nullable(Timestamp),
  isActive: Type.Boolean(),
})
export type ShopRecord = Static<typeof ShopRow>

const EditedRow = Type.Object({ ...ShopRow.properties, edition: Type.String() })
/** A shop and the edition of its settings. */
export type EditedShop = Static<typeof EditedRow>

const shopEdition = sql.fragment`
  md5(row(name, extra_domains, admin_url, admin_token, monthly_generations, address_generations,
    visitor_generations, requires_visitor_token, default_engine, safety_level, allows_swimwear, requires_consent, privacy_contact,
    billing_allowed, plan_ends_at, is_active)::text)`

const columns = sql.fragment`
  shops.id, shops.account_id as "accountId", platform, domain, extra_domains as "extraDomains", shops.name, secrets, admin_url as "adminUrl",
  admin_token as "adminToken", monthly_generations as "monthlyGenerations",
  address_generations as "addressGenerations", visitor_generations as "visitorGenerations",
  requires_visitor_token as "requiresVisitorToken", default_engine as "defaultEngine", safety_level as "safetyLevel",
  allows_swimwear as "allowsSwimwear", requires_consent as "requiresConsent",
  privacy_contact as "privacyContact", billing_allowed as "billingAllowed",
  plan_ends_at as "planEndsAt", shops.is_active as "isActive"`

/** A shop and the account that is charged for it. */
export interface FoundShop {
  readonly shop: ShopRecord
  readonly account: AccountRecord
}

/** Settings of a shop. Null removes a setting. */
export interface ShopSettings {
  readonly name?: string | null
  /** Case-insensitive; null equals an empty list. */
  readonly extraDomains?: readonly string[] | null
  readonly adminUrl?: string | null
  readonly adminToken?: string | null
  readonly monthlyGenerations?: number | null
  readonly addressGenerations?: number | null
  readonly visitorGenerations?: number | null
  readonly requiresVisitorToken?: boolean
  readonly defaultEngine?: string | null
  readonly safetyLevel?: ShopRecord['safetyLevel']
  readonly allowsSwimwear?: boolean | null
  /** Default of a new shop: whether a policy is published under its domain. Publishing the first one turns it on. */
  readonly requiresConsent?: boolean
  readonly privacyContact?: string | null
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
    /** The active shop of this domain (case-insensitive) and its active account. */
    find: async (domain: string): Promise<FoundShop | null> => {
      const isNamed = sql.fragment`domain = lower(${domain}) and shops.is_active`
      // Query both in any case: looking up an unknown shop takes as long as looking up an existing one.
      const [shop, account] = await Promise.all([
        database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where ${isNamed}`),
        database.maybeOne(sql.type(rowType(AccountRow))`
          select ${accountColumns} from accounts
          where id = (select account_id from shops where ${isNamed}) and is_active`),
      ])
      return shop === null || account === null ? null : { shop: await openShop(database, shop), account }
    },

    /** The shop of this domain, active or not. */
    findByDomain: async (domain: string): Promise<ShopRecord | null> => {
      const shop = await database.maybeOne(sql.type(rowType(ShopRow))`
        select ${columns} from shops where domain = lower(${domain})`)
      return shop && openShop(database, shop)
    },

    /** The shop of this id, active or not. */
    findById: (id: string): Promise<ShopRecord | null> =>
      database.maybeOne(sql.type(rowType(ShopRow))`select ${columns} from shops where id = ${id}`),

    /** The shop of the account with this domain (case-insensitive) or ID, active or not. */
    findOfAccount: (accountId: string, name: string): Promise<Pick<ShopRecord, 'id' | 'domain'> | null> =>
      database.maybeOne(sql.type(rowType(Type.Pick(ShopRow, ['id', 'domain'])))`
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
      if (id !== 'refused') return get(id)
      throw refusedValue('secret', 'The secret is already active, or 2 others are. Remove one first.')
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

async function insertShop(database: Database, { accountId, platform, domain, secret, ...settings }: NewShop) {
  const id = `shop_${uuidv7()}`
  const secrets = secret === undefined ? [] : [await sealSecret(database, secret, { table: 'shops', id })]
  const { billingAllowed = true, isActive = true, adminToken = null } = await sealToken(database, settings, id)
  const isKnown = await database.exists(sql.unsafe`select 1 from accounts where id = ${accountId}`)
  if (!isKnown) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
  const { rowCount } = await database.query(sql.unsafe`
    insert into shops (
      id, account_id, platform, domain, extra_domains, name, secrets, admin_url, admin_token, monthly_generations,
      address_generations, visitor_generations, requires_visitor_token, default_engine, safety_level, allows_swimwear, requires_consent,
      privacy_contact, billing_allowed, plan_ends_at, is_active
    ) values (
      ${id}, ${accountId}, ${platform}, lower(${domain}), ${domainArray(settings.extraDomains)}, ${settings.name ?? null}, ${sql.jsonb(secrets)},
      ${settings.adminUrl ?? null}, ${adminToken}, ${settings.monthlyGenerations ?? null},
      ${settings.addressGenerations ?? null}, ${settings.visitorGenerations ?? null}, ${settings.requiresVisitorToken ?? false},
      ${settings.defaultEngine ?? null}, ${settings.safetyLevel ?? null}, ${settings.allowsSwimwear ?? null},
      coalesce(${settings.requiresConsent ?? null}, exists (
        select from consent_policies where account_id = ${accountId} and policy = lower(${domain}))), ${settings.privacyContact ?? null}, ${billingAllowed}, ${settings.planEndsAt?.toISOString() ?? null}, ${isActive}
    )
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

/** Encrypts the token among the settings for storage. */
async function sealToken(
  database: Database,
  { adminToken, ...settings }: ShopSettings,
  id: string,
): Promise<ShopSettings> {
  if (typeof adminToken !== 'string') return { ...settings, adminToken }
  return { ...settings, adminToken: await database.secrets.seal(adminToken, tokenPlace(id)) }
}

/** Column that stores the token for the platform's API. */
export function tokenPlace(id: string): SecretPlace {
  return { table: 'shops', column: 'admin_token', id }
}

type SqlFragment = ReturnType<typeof sql.fragment>

/** Throws `VALIDATION_FAILED` when no setting is given. */
function assignments(settings: ShopSettings): SqlFragment {
  const { name, extraDomains, adminUrl, adminToken, monthlyGenerations, billingAllowed, planEndsAt, isActive } =
    settings
  const changes = [
    name !== undefined && sql.fragment`name = ${name}`,
    extraDomains !== undefined && sql.fragment`extra_domains = ${domainArray(extraDomains)}`,
    adminUrl !== undefined && sql.fragment`admin_url = ${adminUrl}`,
    // A token is bound to its address: changing only the address must not send the token to the new address.
    adminUrl !== undefined &&
      adminToken === undefined &&
      sql.fragment`admin_token = case when admin_url is not distinct from ${adminUrl} then admin_token end`,
    adminToken !== undefined && sql.fragment`admin_token = ${adminToken}`,
    monthlyGenerations !== undefined && sql.fragment`monthly_generations = ${monthlyGenerations}`,
    settings.addressGenerations !== undefined && sql.fragment`address_generations = ${settings.addressGenerations}`,
    settings.visitorGenerations !== undefined && sql.fragment`visitor_generations = ${settings.visitorGenerations}`,
    settings.requiresVisitorToken !== undefined &&
      sql.fragment`requires_visitor_token = ${settings.requiresVisitorToken}`,
    settings.defaultEngine !== undefined && sql.fragment`default_engine = ${settings.defaultEngine}`,
    settings.safetyLevel !== undefined && sql.fragment`safety_level = ${settings.safetyLevel}`,
    settings.allowsSwimwear !== undefined && sql.fragment`allows_swimwear = ${settings.allowsSwimwear}`,
    settings.requiresConsent !== undefined && sql.fragment`requires_consent = ${settings.requiresConsent}`,
    settings.privacyContact !== undefined && sql.fragment`privacy_contact = ${settings.privacyContact}`,
    billingAllowed !== undefined && sql.fragment`billing_allowed = ${billingAllowed}`,
    planEndsAt !== undefined && sql.fragment`plan_ends_at = ${planEndsAt?.toISOString() ?? null}`,
    isActive !== undefined && sql.fragment`is_active = ${isActive}`,
  ].filter((change) => change !== false)
  if (changes.length === 0) throw refusedValue('shop', 'The request changes nothing. Name at least one setting.')
  return sql.fragment`${sql.join(changes, sql.fragment`, `)}`
}

function domainArray(domains: readonly string[] | null = null) {
  return sql.array([...new Set((domains ?? []).map((domain) => domain.toLowerCase()))], 'text')
}

function unknownShop(shop: string): DrapeError {
  return refusedValue('shop', `The shop ${shop} does not exist.`)
}
