import { Type } from '../../api/shared/contract/schema.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { SAFETY_LEVELS } from '../../api/shared/generations/generation.ts'
import { createNamedRule } from '../../api/shared/network/addresses.ts'
import { readConfig, SHARED_VARIABLES, splitList } from '../../api/shared/process/config.ts'
import { adminUrlProblem } from '../../api/shops/admin-url.ts'
import { parseDomains } from '../../api/shops/domains.ts'
import {
  createShops,
  generateShopSecret,
  SHOP_PLATFORMS,
  type ShopPlatform,
  type ShopRecord,
  type ShopSettings,
} from '../../api/shops/shops.store.ts'
import { createShopPrivacy } from '../../api/storefront/shops/shop-privacy.store.ts'
import type { DatabaseCommand } from './command.ts'
import { readDefaultEngine, warnAboutEngines } from './engine-options.ts'
import { mandatory, type Options, option, readSwitch, required, UsageError, wholeNumber } from './options.ts'
import { readSafetyLevel } from './safety-options.ts'
import { secretOptions } from './secret-options.ts'

const SHOP = mandatory('--shop <id|domain>', 'shop')

const SETTINGS = [
  option('--name <name>', 'name of the shop, or none'),
  option('--active <true|false>', 'whether its pages may use the service'),
  option('--default-engine <name>', 'engine of the try-ons of shoppers; none: the default of the account'),
  option(
    `--safety-level <${SAFETY_LEVELS.join('|')}>`,
    'safety checks of the try-ons of shoppers; none: those of the account',
  ),
  option(
    '--allows-swimwear <true|false>',
    'whether these try-ons may show underwear and swimwear; none: the setting of the account',
  ),
  option('--extra-domains <domain,domain>', 'additional domains for share links, or none'),
  option(
    '--address-generations <n>',
    'daily (UTC) try-ons of visitors without a customer account, per address; or none',
  ),
  option('--visitor-generations <n>', 'daily (UTC) try-ons of all such visitors together, or none'),
  option('--requires-visitor-token <true|false>', 'require a token from such visitors'),
  option(
    '--requires-consent [true|false]',
    'store photos only of visitors who agreed to the policy; default of a new shop: false, until a policy is published',
  ),
  option('--privacy-contact <text>', 'contact for questions of visitors about their data, or none'),
  option('--monthly-generations <n>', 'limit of try-ons per month, or none'),
  option('--billing-allowed <true|false>', 'whether the shop may be billed'),
  option('--plan-ends-at <time>', 'end of the plan of the shop, or none'),
  option(
    '--admin-url <url>',
    'https URL of the API of the platform, or none; without a token, a new URL removes the token',
  ),
  ...secretOptions('admin-token', 'token of the API of the platform'),
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
      const settings = readSettings(options)
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
    inDatabase: async (database, { shop = null }) => ({
      requests: await createShopPrivacy(database).listDataRequests(shop),
    }),
  },
  'shop list': {
    summary: 'list shops, without their secrets',
    options: [option('--account <id>', 'only of this account')],
    effect: 'reads',
    inDatabase: async (database, { account = null }) => ({
      shops: (await createShops(database).list(account)).map(present),
    }),
  },
}

async function create(database: Database, options: Options) {
  const platform = readPlatform(required(options.platform, 'platform'))
  const isMade = options.secret === undefined && platform === 'plugin'
  if (platform === 'shopify') required(options.secret, 'secret-file')
  const settings = readSettings(options)
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

/** Absent options leave the setting unchanged. */
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
    requiresConsent: readSwitch(options['requires-consent'], 'requires-consent'),
    privacyContact: read('privacy-contact', readContact),
    defaultEngine: readDefaultEngine(options['default-engine']),
    safetyLevel: readSafetyLevel(options['safety-level']),
    allowsSwimwear: read('allows-swimwear', (text) => readSwitch(text, 'allows-swimwear') ?? null),
    planEndsAt: read('plan-ends-at', readTime),
    billingAllowed: readSwitch(options['billing-allowed'], 'billing-allowed'),
    isActive: readSwitch(options.active, 'active'),
  }
}

/** Max value of the column. */
const MAX_GENERATIONS = 2_147_483_647

function readGenerations(text: string): number {
  return Math.min(wholeNumber(text, 'monthly-generations', 0), MAX_GENERATIONS)
}

function readContact(text: string): string {
  if (text.length <= 300 && !/\p{C}/u.test(text)) return text
  throw new UsageError('--privacy-contact must be at most 300 characters in one line')
}

function readUrl(text: string): string {
  const { FETCH_ALLOW_CIDRS } = readConfig(
    Type.Object({ FETCH_ALLOW_CIDRS: SHARED_VARIABLES.FETCH_ALLOW_CIDRS }),
    process.env,
  )
  const why = adminUrlProblem(text, createNamedRule(splitList(FETCH_ALLOW_CIDRS)))
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
