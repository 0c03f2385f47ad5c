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

export const SHOP_USAGE = `\
  shop create --account ID --platform P --domain D      a shop: shopify, plugin or development
      [--secret S]                                      what its proxy signs with; made for a plugin, and shown once
      and what shop update takes
  shop update --shop ID|DOMAIN                          "none" takes a setting away
      [--name N] [--active true|false] [--billing-allowed true|false] [--plan-ends-at ISO] [--monthly-generations N]
      [--admin-url U] [--admin-token T]                 where and with what the API of its platform is asked
  shop secret add --shop ID|DOMAIN [--secret S]         one more secret beside the one that it replaces
  shop secret remove --shop ID|DOMAIN [--secret S]      end that secret, or the older one of two
  shop requests [--shop ID|DOMAIN]                      what is held of customers for whom Shopify asked, to be passed on
  shop list [--account ID]                              every shop, without its secrets`

export const SHOP_OPTIONS = [
  ...['shop', 'platform', 'domain', 'secret', 'active', 'billing-allowed', 'plan-ends-at', 'admin-url', 'admin-token'],
]

/** What an operator does with shops. Their secrets and tokens are never shown again. */
export const shopCommands: Readonly<Record<string, Command>> = {
  'shop create': async (database, options) => {
    const platform = readPlatform(required(options.platform, 'platform'))
    const isMade = options.secret === undefined && platform === 'plugin'
    if (platform === 'shopify') required(options.secret, 'secret')
    const secret = isMade ? generateShopSecret() : options.secret
    const created = await createShops(database).insert({
      accountId: required(options.account, 'account'),
      platform,
      domain: readDomain(required(options.domain, 'domain')),
      secret: secret === undefined ? undefined : required(secret, 'secret'),
      ...readSettings(options),
    })
    return { ...created, platform, ...(isMade && { secret }) }
  },

  'shop update': async (database, options) =>
    present(await createShops(database).update(required(options.shop, 'shop'), readSettings(options))),

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
    adminUrl: read('admin-url', readUrl),
    adminToken: read('admin-token', (text) => text),
    monthlyGenerations: read('monthly-generations', readGenerations),
    planEndsAt: read('plan-ends-at', readTime),
    billingAllowed: readSwitch(options['billing-allowed'], 'billing-allowed'),
    isActive: readSwitch(options.active, 'active'),
  }
}

/** The largest number that the column holds. */
const MOST_GENERATIONS = 2_147_483_647

function readGenerations(text: string): number {
  return Math.min(wholeNumber(text, 'monthly-generations', 0), MOST_GENERATIONS)
}

function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError('--admin-url must be an http(s) address')
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
