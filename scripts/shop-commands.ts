import { createRangeRule } from '../api/shared/addresses.ts'
import { readConfig, SHARED_VARIABLES, splitList } from '../api/shared/config.ts'
import { Type } from '../api/shared/schema.ts'
import { whyNoAdminUrl } from '../api/shop-platforms/admin-url.ts'
import { parseDomains } from '../api/shops/domains.ts'
import { createShopPrivacy } from '../api/stores/shop-privacy.ts'
import {
  createShops,
  generateShopSecret,
  SHOP_PLATFORMS,
  type ShopPlatform,
  type ShopRecord,
  type ShopSettings,
} from '../api/stores/shops.ts'
import { type Command, type Options, readSwitch, required, UsageError, wholeNumber } from './command-options.ts'
import { readDefaultEngine, warnAboutEngines } from './engine-options.ts'

export const SHOP_USAGE = `\
  shop create --account ID --platform P --domain D      create a shop; platforms: shopify, plugin, development
      [--secret-file PATH|-]                            secret that its proxy signs with; generated for a plugin, and printed once
      and the options of shop update
  shop update --shop ID|DOMAIN                          change settings; "none" removes a setting
      [--address-generations N] [--visitor-generations N]    daily (UTC) budgets of visitors without a customer account: per address, in total
      [--requires-visitor-token true|false]             require a token from visitors without a customer account
      [--default-engine NAME]                           engine of the try-ons of shoppers; without it the default of the account
      [--extra-domains D,D]                             additional domains for share links
      [--name N] [--active true|false] [--billing-allowed true|false] [--plan-ends-at ISO] [--monthly-generations N]
      [--admin-url U] [--admin-token-file PATH|-]                 https URL and token of the platform API; a new URL without
                                                        a token removes the token
  shop secret add --shop ID|DOMAIN [--secret-file P]    add a second secret for rotation
  shop secret remove --shop ID|DOMAIN [--secret-file P] remove this secret; default: the older of two
  shop requests [--shop ID|DOMAIN]                      list the stored customer data that Shopify has requested
  shop list [--account ID]                              list shops, without their secrets`

export const SHOP_OPTIONS = [
  ...[
    'shop',
    'platform',
    'domain',
    'secret',
    'active',
    'extra-domains',
    'address-generations',
    'visitor-generations',
    'requires-visitor-token',
    'default-engine',
    'billing-allowed',
    'plan-ends-at',
    'admin-url',
    'admin-token',
  ],
]

/** What an operator does with shops. Their secrets and tokens are never shown again. */
export const shopCommands: Readonly<Record<string, Command>> = {
  'shop create': async (database, options) => {
    const platform = readPlatform(required(options.platform, 'platform'))
    const isMade = options.secret === undefined && platform === 'plugin'
    if (platform === 'shopify') required(options.secret, 'secret')
    const settings = readSettings(options)
    await warnAboutEngines(database, [settings.defaultEngine])
    const secret = isMade ? generateShopSecret() : options.secret
    const created = await createShops(database).insert({
      accountId: required(options.account, 'account'),
      platform,
      domain: readDomain(required(options.domain, 'domain')),
      secret: secret === undefined ? undefined : required(secret, 'secret'),
      ...settings,
    })
    return { ...created, platform, ...(isMade && { secret }) }
  },

  'shop update': async (database, options) => {
    const settings = readSettings(options)
    await warnAboutEngines(database, [settings.defaultEngine])
    return present(await createShops(database).update(required(options.shop, 'shop'), settings))
  },

  'shop secret add': async (database, { shop, secret }) => {
    const added = secret ?? generateShopSecret()
    const changed = await createShops(database).addSecret(required(shop, 'shop'), required(added, 'secret'))
    return { ...present(changed), ...(secret === undefined && { secret: added }) }
  },

  'shop secret remove': async (database, { shop, secret = null }) =>
    present(await createShops(database).removeSecret(required(shop, 'shop'), secret)),

  'shop requests': async (database, { shop = null }) => ({
    requests: await createShopPrivacy(database).listDataRequests(shop),
  }),

  'shop list': async (database, { account = null }) => ({
    shops: (await createShops(database).list(account)).map(present),
  }),
}

function readPlatform(text: string): ShopPlatform {
  const platform = SHOP_PLATFORMS.find((known) => known === text)
  if (platform === undefined) throw new UsageError(`--platform must be one of ${SHOP_PLATFORMS.join(', ')}`)
  return platform
}

function readDomain(text: string): string {
  if (/^[^\s\p{C}/:@]{1,253}$/u.test(text)) return text
  throw new UsageError('--domain must be a bare domain, as in shop.example')
}

const NONE = 'none'

/** What is not given stays as it is. */
function readSettings(options: Options): ShopSettings {
  const read = <T>(name: string, parse: (text: string) => T): T | null | undefined => {
    const text = options[name]
    if (text === undefined) return undefined
    return text === NONE ? null : parse(required(text, name))
  }
  return {
    name: read('name', (text) => text),
    extraDomains: read('extra-domains', (text) => parseDomains(text)),
    adminUrl: read('admin-url', readUrl),
    adminToken: read('admin-token', (text) => text),
    monthlyGenerations: read('monthly-generations', readGenerations),
    addressGenerations: read('address-generations', (text) =>
      Math.min(wholeNumber(text, 'address-generations', 0), MAX_GENERATIONS),
    ),
    visitorGenerations: read('visitor-generations', (text) =>
      Math.min(wholeNumber(text, 'visitor-generations', 0), MAX_GENERATIONS),
    ),
    requiresVisitorToken: readSwitch(options['requires-visitor-token'], 'requires-visitor-token'),
    defaultEngine: readDefaultEngine(options['default-engine']),
    planEndsAt: read('plan-ends-at', readTime),
    billingAllowed: readSwitch(options['billing-allowed'], 'billing-allowed'),
    isActive: readSwitch(options.active, 'active'),
  }
}

/** The largest number that the column holds. */
const MAX_GENERATIONS = 2_147_483_647

function readGenerations(text: string): number {
  return Math.min(wholeNumber(text, 'monthly-generations', 0), MAX_GENERATIONS)
}

function readUrl(text: string): string {
  const { FETCH_ALLOW_CIDRS } = readConfig(
    Type.Object({ FETCH_ALLOW_CIDRS: SHARED_VARIABLES.FETCH_ALLOW_CIDRS }),
    process.env,
  )
  const why = whyNoAdminUrl(text, createRangeRule(splitList(FETCH_ALLOW_CIDRS)))
  if (why !== null) throw new UsageError(`--admin-url ${why}`)
  return text
}

function readTime(text: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError('--plan-ends-at must be a time like 2027-01-31T12:00:00Z')
  return time
}

function present({ secrets, adminToken, ...shop }: ShopRecord): Record<string, unknown> {
  return { ...shop, hasAdminToken: adminToken !== null, secretsSince: secrets.map(({ createdAt }) => createdAt) }
}
