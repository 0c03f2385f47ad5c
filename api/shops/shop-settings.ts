import { ALLOWS_SWIMWEAR, DEFAULT_ENGINE, SAFETY_LEVEL } from '../accounts/account-settings.ts'
import { Type } from '../shared/contract/schema.ts'
import type { Settings } from '../shared/contract/setting.ts'

/** As in `location.hostname`: letters, digits and hyphens between dots. */
export const HOST_NAME =
  '^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$'

/** A token of a platform's API: what a header can contain. */
export const ACCESS_TOKEN = '^[\\x21-\\x7e]{1,1000}$'

const MAX_DOMAINS = 20
/** Of each shopper, per ISO week (UTC). */
export const WEEKLY_GENERATIONS = 10
/** Of visitors who are not signed in, per day (UTC). */
export const DEFAULT_ADDRESS_GENERATIONS = 30
export const DEFAULT_VISITOR_GENERATIONS = 1000

/** Of a column. */
const Count = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })

/** Settings of a shop, each in a column. */
export const SHOP_SETTINGS = {
  name: {
    schema: Type.String({ maxLength: 200 }),
    label: 'Name',
    absent: 'its domain',
    placeholder: 'name',
  },
  /** In lower case. */
  extraDomains: {
    schema: Type.Array(Type.String({ pattern: HOST_NAME, maxLength: 253 }), { maxItems: MAX_DOMAINS }),
    label: 'Extra domains',
    absent: 'none',
    hint: 'More domains that share links may point to, separated by commas.',
    placeholder: 'domain,domain',
    rule: `at most ${MAX_DOMAINS} host names such as www.shop.example, separated by commas`,
  },
  monthlyGenerations: { schema: Count, label: 'Generations per month', absent: 'the limit of the account' },
  addressGenerations: {
    schema: Count,
    label: 'Generations per day and IP address',
    absent: String(DEFAULT_ADDRESS_GENERATIONS),
    hint: 'Of visitors who are not signed in.',
  },
  visitorGenerations: {
    schema: Count,
    label: 'Generations per day of all visitors',
    absent: String(DEFAULT_VISITOR_GENERATIONS),
    hint: 'Of all visitors who are not signed in.',
  },
  requiresVisitorToken: { schema: Type.Boolean(), label: 'Require a visitor token' },
  requiresConsent: { schema: Type.Boolean(), label: 'Require consent before a photo is stored' },
  privacyContact: {
    schema: Type.String({ pattern: '^[^\\p{C}]{0,300}$' }),
    label: 'Contact for questions about data',
    absent: 'visitors contact the shop',
    hint: 'Shown on the privacy page: an e-mail address, an https URL or an address.',
    placeholder: 'text',
    rule: 'at most 300 characters in one line',
  },
  defaultEngine: { ...DEFAULT_ENGINE, absent: 'default of the account' },
  safetyLevel: { ...SAFETY_LEVEL, absent: 'the level of the account' },
  allowsSwimwear: { ...ALLOWS_SWIMWEAR, absent: 'as in the account' },
  holdoutPercent: {
    schema: Type.Integer({ minimum: 0, maximum: 50 }),
    label: 'Visitors without the button, in percent',
    absent: '0',
    hint: 'Analytics then compares them with the others. Each change starts the comparison again.',
  },
  adminUrl: {
    schema: Type.String({ maxLength: 2000 }),
    label: 'URL of the platform’s API',
    absent: 'the domain of the shop',
    hint: 'https only. A new URL without a token removes the stored token.',
    placeholder: 'url',
  },
  adminClientId: {
    schema: Type.String({ pattern: '^[\\w-]{1,100}$' }),
    label: 'Client ID of the app',
    absent: 'the token does not expire',
    hint: 'Drape obtains tokens of the platform’s API with it and the shop’s secret. A new ID without a token removes the stored token.',
    placeholder: 'id',
    rule: 'letters, digits, - and _, at most 100',
  },
  billingAllowed: { schema: Type.Boolean(), label: 'Bill try-ons of shoppers' },
  isActive: { schema: Type.Boolean(), label: 'Active', option: 'active' },
} as const satisfies Settings
