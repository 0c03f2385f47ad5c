import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { Type } from '../../api/shared/contract/schema.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { createNamedRule } from '../../api/shared/network/addresses.ts'
import { readConfig, SHARED_VARIABLES, splitList } from '../../api/shared/process/config.ts'
import { adminUrlProblem } from '../../api/shops/admin-url.ts'
import { SHOP_SETTINGS } from '../../api/shops/shop-settings.ts'
import {
  createShops,
  generateShopSecret,
  SHOP_PLATFORMS,
  type ShopRecord,
  type ShopSettings,
} from '../../api/shops/shops.store.ts'
import { createShopPrivacy } from '../../api/storefront/shops/shop-privacy.store.ts'
import type { DatabaseCommand } from './command.ts'
import { warnAboutEngines } from './engine-options.ts'
import { mandatory, type Options, option, required, UsageError } from './options.ts'
import { secretOptions } from './secret-options.ts'
import { readSettings, settingOptions } from './setting-options.ts'

const SHOP = mandatory('--shop <id|domain>', 'shop')

const SETTINGS = [
  ...settingOptions(SHOP_SETTINGS),
  option('--plan-ends-at <time>', 'end of the plan of the shop; none: no end'),
  ...secretOptions('admin-token', 'token of the API of the platform; with a client ID, a refresh token'),
]

/** Operator commands for shops. Secrets and tokens are never shown again. */
export const shopCommands: Readonly<Record<string, DatabaseCommand>> = {
  'shop create': {
    summary: 'create a shop',
    options: [
      mandatory('--account <id>', 'account, acc_…'),
      mandatory('--platform <platform>', 'platform of the shop').choices(SHOP_PLATFORMS),
      mandatory('--domain <domain>', 'bare domain, as in shop.example'),
      ...secretOptions(
        'secret',
        'secret that its proxy signs with; default for a plugin: generate a secret, and print it once',
      ),
      ...SETTINGS,
    ],
    effect: 'changes',
    inDatabase: create,
  },
  'shop update': {
    summary: 'change settings of a shop; "none" removes a setting',
    options: [SHOP, ...SETTINGS],
    effect: 'changes',
    inDatabase: async (database, options) => {
      const settings = readShopSettings(options)
      await warnAboutEngines(database, [settings.defaultEngine])
      return present(await createShops(database).update(required(options.shop, 'shop'), settings))
    },
  },
  'shop secret add': {
    summary: 'add a second secret for rotation',
    options: [SHOP, ...secretOptions('secret', 'the secret; default: generate a secret, and print it once')],
    effect: 'changes',
    inDatabase: async (database, { shop, secret }) => {
      const added = secret ?? generateShopSecret()
      const changed = await createShops(database).addSecret(required(shop, 'shop'), required(added, 'secret'))
      return { ...present(changed), ...(secret === undefined && { secret: added }) }
    },
  },
  'shop secret remove': {
    summary: 'remove a secret',
    options: [SHOP, ...secretOptions('secret', 'the secret; default: the older of two')],
    effect: 'changes',
    inDatabase: async (database, { shop, secret = null }) =>
      present(await createShops(database).removeSecret(required(shop, 'shop'), secret)),
  },
  'shop requests': {
    summary: 'list the stored customer data that Shopify has requested',
    options: [option('--shop <id|domain>', 'only of this shop')],
    effect: 'reads',
    inDatabase: async (database, { shop }) => {
      const id = shop === undefined ? null : (await findShop(database, shop)).id
      return { requests: await createShopPrivacy(database).listDataRequests(id) }
    },
  },
  'shop list': {
    summary: 'list shops, without their secrets',
    options: [option('--account <id>', 'only of this account')],
    effect: 'reads',
    inDatabase: async (database, { account }) => {
      const id = account === undefined ? null : (await createAccounts(database).get(account)).id
      return { shops: (await createShops(database).list(id)).map(present) }
    },
  },
}

/** The shop with this ID or domain. Throws if it does not exist. */
export async function findShop(database: Database, named: string): Promise<ShopRecord> {
  const shop = await createShops(database).findNamed(named)
  if (shop === null) throw new UsageError(`The shop ${named} does not exist`)
  return shop
}

async function create(database: Database, options: Options) {
  const platform = required(
    SHOP_PLATFORMS.find((known) => known === options.platform),
    'platform',
  )
  const isMade = options.secret === undefined && platform === 'plugin'
  if (platform === 'shopify') required(options.secret, 'secret-file')
  const settings = readShopSettings(options)
  await warnAboutEngines(database, [settings.defaultEngine])
  const secret = isMade ? generateShopSecret() : options.secret
  const created = await createShops(database).insert({
    accountId: required(options.account, 'account'),
    platform,
    domain: readDomain(required(options.domain, 'domain')),
    secret: secret === undefined ? undefined : required(secret, 'secret-file'),
    ...settings,
  })
  return { ...created, platform, ...(isMade && { secret }) }
}

function readDomain(text: string): string {
  if (/^[^\s\p{C}/:@]{1,253}$/u.test(text)) return text
  throw new UsageError('--domain must be a bare domain, as in shop.example')
}

/** Absent options leave the setting unchanged. */
function readShopSettings(options: Options): ShopSettings {
  const settings: ShopSettings = readSettings(SHOP_SETTINGS, options)
  const read = <T>(name: string, parse: (text: string) => T): T | null | undefined => {
    const text = options[name]
    if (text === undefined) return undefined
    return text === 'none' ? null : parse(required(text, name))
  }
  assertAdminUrl(settings.adminUrl)
  return {
    ...settings,
    adminToken: read('admin-token', (text) => text),
    planEndsAt: read('plan-ends-at', readTime),
  }
}

function assertAdminUrl(text: string | null | undefined): void {
  if (!text) return
  const { FETCH_ALLOW_CIDRS } = readConfig(
    Type.Object({ FETCH_ALLOW_CIDRS: SHARED_VARIABLES.FETCH_ALLOW_CIDRS }),
    process.env,
  )
  const why = adminUrlProblem(text, createNamedRule(splitList(FETCH_ALLOW_CIDRS)))
  if (why !== null) throw new UsageError(`--admin-url ${why}`)
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
